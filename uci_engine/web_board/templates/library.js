// The games of the folder, and before them those that were loaded, as a list that can be searched.
const MAX_LISTED = 100;
let library = [];

async function showLibrary() {
  const { remark, loaded, games } = await ask("games", {});
  const listed = games.map(([file, number, words, key], index) => {
    return { file, number, words, key, isLoaded: index < loaded, found: `${words} ${file}`.toLowerCase() };
  });
  // Each once, also where several files have it, and in the folder rather than loaded.
  library = [...new Map(listed.map((each) => [each.key, each])).values()];
  byId("library-folder").textContent = remark;
  searchLibrary();
}

// List the games that have all words of the search.
function searchLibrary() {
  const words = byId("search").value.toLowerCase().split(/\s+/);
  const found = library.filter((game) => words.every((word) => game.found.includes(word)));
  const first = found.length > MAX_LISTED ? `, the first ${MAX_LISTED} are shown` : "";
  byId("library-count").textContent = `${found.length} of ${library.length} games${first}.`;
  const items = found.slice(0, MAX_LISTED).map((each) => listItem(each.words, () => openGame(each)));
  byId("library").replaceChildren(...items);
}

const ofFolder = () => library.filter(({ isLoaded }) => !isLoaded);

async function openGame({ file, number }, remark = "") {
  const found = await askForGame("open", { file, number });
  if (!found || !(await begin(newGame(found)))) return;
  viewer.go(game, 0);
  notify(found.remark || remark);
  reveal(byId("moves"));
}

const listItem = (words, onclick) => element("li", {}, button(words, onclick));

byId("search").oninput = searchLibrary;
byId("show-games").onchange = () => showLibrary().then(() => tellReport());
