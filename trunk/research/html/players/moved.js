// Old names of pages lead to the new ones, with their query.
const link = document.getElementById('moved');
location.replace(link.href + location.search);
