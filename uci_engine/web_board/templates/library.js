// The games of the folder as a list that can be searched.
const MAX_LISTED = 100;
let library = [];

// The games whose words have all of these.
function matching(games, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return games.filter(({ found }) => words.every((word) => found.includes(word)));
}

async function showLibrary() {
  const { folder, games } = await ask("games", {});
  library = games.map(([file, number, words]) => ({ file, number, words, found: `${words} ${file}`.toLowerCase() }));
  byId("library-folder").textContent = `The PGN files in ${folder}.`;
  searchLibrary();
}

function searchLibrary() {
  const found = matching(library, byId("search").value);
  const count = `${found.length} of ${library.length} games`;
  byId("library-count").textContent = found.length > MAX_LISTED ? `${count}, the first ${MAX_LISTED} are shown` : count;
  const buttons = found.slice(0, MAX_LISTED).map(({ file, number, words }) => {
    return element("li", {}, button(words, () => openGame({ file, number })));
  });
  byId("library").replaceChildren(...buttons);
}

async function openGame(fields) {
  const found = await askForGame("open", fields);
  if (found) await showGame(found.games[0]);
}

byId("search").oninput = searchLibrary;
byId("show-games").onchange = () => Promise.all([showLibrary(), tellExercises()]);
