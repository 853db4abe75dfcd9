// Redirects the old name of a page to the new one, with its query.
const link = document.getElementById('moved');
location.replace(link.href + location.search);
