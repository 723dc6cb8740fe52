// The game on the board, the lines beside it, the clocks, and what is kept of the game.
const data = JSON.parse(byId("data").textContent);

// `title`: who plays. `names`: of the players, by their sides. `color`: the player's, null where nobody plays. `elo`: 0 for full strength. `clock`: milliseconds,
// null for none. `ratings`: of the players, by their sides, null for one that is not known. `ending`: why the game is
// over where the board does not show it.
const newGame = (fields) => ({
  id: crypto.getRandomValues(new BigUint64Array(1))[0].toString(16),
  title: "A position to look at.",
  names: { white: "White", black: "Black" },
  start: data.start,
  moves: [],
  color: null,
  elo: 0,
  clock: null,
  ratings: {},
  result: "*",
  ending: "",
  ...fields,
  positions: [],
});

// A track also has the moves from the start, and the position before the first of them and after each.
let game = newGame({});

// Where a browser keeps games; it may forbid that, and then they last as long as the page.
function store(name) {
  try {
    return window[name];
  } catch {
    return {};
  }
}

const lasting = store("localStorage");
const passing = store("sessionStorage");

// What is kept under a name, null for nothing and for what cannot be read.
function kept(place, name) {
  try {
    return JSON.parse(place[name] ?? "null");
  } catch {
    return null;
  }
}

const viewer = new Viewer(game, show);
const { board } = viewer;

const here = () => viewer.here;
const latest = () => game.positions.at(-1);
const isPlaying = () => game.color !== null && game.result === "*";
const isThinking = () => isPlaying() && latest().turn !== game.color;
const canPlay = () => isPlaying() && here() === latest() && !isThinking();
// The game without what the server can tell again.
const record = () => ({ ...game, positions: [] });
// The last game that any tab has kept, and that of this tab as long as the server is the same.
const lastKept = () => kept(lasting, "secateur-game");
const ownKept = () => kept(passing, location.pathname);
// The position on the board, as the server is asked about it.
const path = () => ({ start: viewer.track.start, moves: viewer.track.moves.slice(0, viewer.at) });

// The track with all its positions. It comes with those before the first of these moves.
async function filled(track) {
  const { start, moves, positions } = track;
  const found = await ask("positions", { start, moves, first: positions.length });
  return { ...track, positions: [...positions, ...found.positions] };
}

// Go into a line from here, to the position after so many of its moves.
async function enter({ steps, title, value, share }, count = 1) {
  const { start, moves } = path();
  const { track, at } = viewer;
  const positions = track.positions.slice(0, at + 1);
  const line = await filled({ start, moves: [...moves, ...steps.map(({ last }) => last)], positions });
  // All of it has one value, but the end of a game.
  for (const each of line.positions.slice(at + 1)) if (each.share === undefined) Object.assign(each, { value, share });
  viewer.go({ ...line, title, back: track.back ?? { track, at } }, at + count);
  // The button that was pressed has gone with the position.
  if (document.activeElement === document.body) byId("leave").focus();
}

async function begin(fresh) {
  game = await filled(fresh);
  board.flipped = game.color === "black";
  goToLatest();
}

function goToLatest() {
  stop();
  forgetMistakes();
  if (game.result === "*") game.result = latest().result ?? "*";
  viewer.go(game, game.moves.length);
}

// The game goes on or back, or is over.
function change(fields) {
  Object.assign(game, fields);
  goToLatest();
  lasting["secateur-game"] = passing[location.pathname] = JSON.stringify(record());
  ask("save", record()).then(({ saved }) => {
    byId("saved").textContent = `Saved in ${saved}.`;
  });
}

async function engineMoves() {
  const answer = await question("reply", { ...record(), ...game.clock });
  if (answer) await commit(answer.move);
}

// Make a move of the game.
async function commit(move) {
  const before = game.moves;
  const { moves, positions } = await filled({ ...game, moves: [...before, move] });
  tick();
  // In the meantime the player may have moved, taken back, resigned, or begun another game.
  if (game.moves !== before || !isPlaying()) return;
  if (game.clock && before.length) game.clock[latest().turn] += game.clock.increment;
  change({ moves, positions });
}

// Play a move in the game if it is the player's turn there, or else in a line.
const play = (move) => (canPlay() ? commit(move) : enter({ steps: [{ last: move }], title: "Your line" }));

// How many moves are left when the player takes one back.
const fewerMoves = () => game.moves.length - (latest().turn === game.color ? 2 : 1);

function takeBack() {
  const count = fewerMoves();
  // A game that goes on after its end has no clock.
  const clock = isPlaying() ? game.clock : null;
  const positions = game.positions.slice(0, count + 1);
  change({ moves: game.moves.slice(0, count), positions, clock, result: "*", ending: "" });
}

const nameOf = (color) => color[0].toUpperCase() + color.slice(1);

function lose(color, how) {
  change({ result: color === "white" ? "0-1" : "1-0", ending: `${nameOf(color)} ${how}.` });
}

// The row at the board of a side: its name, and its clock.
const sideOf = (color) => byId((color === "black") === board.flipped ? "side-below" : "side-above");

let ticked = performance.now();

function tick() {
  const passed = Math.round(performance.now() - ticked);
  ticked += passed;
  if (game.clock === null) return;
  for (const color of ["white", "black"]) {
    // It stands before the first move.
    const runs = isPlaying() && game.moves.length > 0 && latest().turn === color;
    if (runs) game.clock[color] = Math.max(0, game.clock[color] - passed);
    const seconds = Math.ceil(game.clock[color] / 1000);
    const [name, clock] = sideOf(color).children;
    clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    name.parentElement.classList.toggle("runs", runs);
    if (runs && seconds === 0) lose(color, "has lost on time");
  }
}
