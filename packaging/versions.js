// A list of the site's versions in the menu of each page. The site's own `versions.js`, above the folders of the versions, names them; a
// book alone has no such file, and no list. mdBook copies this script to `packaging/` of each book.
(() => {
  const site = new URL('../../', document.currentScript.src);
  const [, here] = document.currentScript.src.slice(site.href.length - 1).split('/');
  const known = document.createElement('script');
  known.src = new URL('versions.js', site);
  known.onload = () => {
    const list = document.createElement('select');
    list.setAttribute('aria-label', 'Version');
    for (const version of window.sqlgaugeVersions) list.add(new Option(version, version, false, version === here));
    list.onchange = () => { location.href = new URL(`${list.value}/index.html`, site); };
    document.querySelector('.right-buttons').prepend(list);
  };
  document.head.append(known);
})();
