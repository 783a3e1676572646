//! Enums whose variants have names.

/// Declares an enum with a text beside each variant: `ALL` has its variants in their order, and the method after `by` gives
/// the text of one, which is also how it prints.
///
/// ```
/// sqlgauge_base::named! {
///     /// How two results are compared.
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Comparison by name {
///         Bag = "bag",
///         /// In their order.
///         List = "list",
///     }
/// }
/// assert_eq!(Comparison::ALL.map(Comparison::name), ["bag", "list"]);
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident by $name:ident {
        $($(#[$of_variant:meta])* $Variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis enum $Enum {
            $($(#[$of_variant])* $Variant),+
        }

        impl $Enum {
            /// All of them, in the order of their declaration.
            $vis const ALL: [Self; [$($text),+].len()] = [$(Self::$Variant),+];

            /// Its name, or how it reads.
            $vis fn $name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $text),+
                }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.$name())
            }
        }
    };
}
