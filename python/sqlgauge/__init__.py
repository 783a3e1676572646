"""Scores Text-to-SQL systems: official numbers, intervals, and why answers are wrong.

The same libraries as the program ``sqlgauge``, which this package brings along: every result is the one that the
command line gives. Every error is an :class:`Error` with the sentence of the command line.

Any call can be broken off by Ctrl-C, releases the interpreter while it works, and may be made in any thread and in a
child process, however that was started. :class:`Database`, :class:`Schema` and :class:`Reward` can be pickled: what is sent is the path
or the text and the options.
"""

# Names are imported when the first of them is used: the command line, which is in this package too, begins without them.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from ._public import *
    from ._public import __all__ as __all__
    from ._public import __version__ as __version__
else:

    def __getattr__(name: str) -> object:
        if name.startswith("_") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import _public

        globals().update({public: getattr(_public, public) for public in _public.__all__}, __all__=_public.__all__)
        if name not in globals():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
