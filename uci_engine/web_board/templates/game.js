// The game on the board, the lines beside it, the clocks, and what is kept of the game.
const data = JSON.parse(byId("data").textContent);

/** @typedef {"white" | "black"} Side */
/** @type {Side[]} */
const SIDES = ["white", "black"];
/** @typedef {{title: string, value: string, share: number, steps: Shown[]}} Line */
/**
 * A mistake: the `index` of its move in the game, the name of the `move`, and the side of the `player`. `key`: that of
 * the exercise that it is, if it is one.
 * @typedef {{index: number, move: string, mark?: string, player: string, change?: string, key?: string}} Mistake
 */
/**
 * What the engine has said of a position: see `questions.py`.
 * @typedef {{depth?: number, effort?: string, lines?: Line[], tablebase?: string, hint?: string, threat?: string,
 *   threat_name?: string, sum?: {families: any[], pieces: any[], white_score_cp: number},
 *   costs?: {move: string, value: string, share: number}[],
 *   explanation?: {move: string, name: string, value: string, mark: string, is_error: boolean, texts: string[],
 *     lines: Line[], best: {move: string, value: string, share: number}}}} Learnt
 */
/**
 * What is said of a move: by players, by the review, and in the list of moves.
 * @typedef {{comment?: string, before?: string, nags?: number[], sign?: string, words?: string, lead?: string,
 *   clock?: number, mark?: string, error?: Mistake, button?: HTMLButtonElement}} Told
 */
/**
 * A position of a game: `legal` and `premoves` are moves in UCI with their names.
 * @typedef {Shown & Learnt & Told & {whole_fen: string, turn: Side, ply: number, legal: Record<string, string>,
 *   premoves?: Record<string, string>, opening?: string, result?: string, next: Position[], from?: Position}} Position
 */
/**
 * @typedef {{start: string, moves: string[], positions: Position[], title?: string, back?: {track: Track, at: number}}}
 *   Track
 */

/**
 * `title`: who plays. `names`: of the players. `color`: the player's side, null where nobody plays. `elo`: 0 for full
 * strength. `clock`: milliseconds, null for none. `began`: when, in milliseconds. `control`: of time, as PGN has it.
 * `ratings`: of the players, null for one that is not known. `ending`: why the game is over where the board does not
 * show it. `nodes`: the moves with their variations, as the server has them, none where there are the moves alone.
 * `headers`: those of a game that was loaded. `key`: that of the game in the report, "" for none.
 * @typedef {Track & {id: string, names: Record<Side, string>, nodes: object[], headers: Record<string, string>,
 *   color: Side | null, elo: number, clock: Record<Side | "increment", number> | null, began: number, control: string,
 *   ratings: Partial<Record<Side, number | null>>, result: string, ending: string, key: string}} Game
 */
/** @type {(fields: Partial<Game>) => Game} */
const newGame = (fields) => ({
  id: crypto.getRandomValues(new BigUint64Array(1))[0].toString(16),
  title: "A position to look at.",
  names: { white: "White", black: "Black" },
  start: data.start,
  moves: [],
  nodes: [],
  headers: {},
  color: null,
  elo: 0,
  clock: null,
  began: Date.now(),
  control: "-",
  ratings: {},
  result: "*",
  ending: "",
  key: "",
  ...fields,
  positions: [],
});

// A track also has the moves from the start, and the position before the first of them and after each. The positions of
// the game and its variations are a tree: each has `next`, the positions after it, that of the main line first, and
// `from`, the one before it.
let game = newGame({});

// Where a browser keeps games; it may forbid or lack that, and then they last as long as the page.
function store(name) {
  try {
    return window[name] ?? {};
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

/** @type {() => Position} */
const here = () => viewer.here;
const latest = () => game.positions.at(-1);
const isPlaying = () => game.color !== null && game.result === "*";
const isThinking = () => isPlaying() && latest().turn !== game.color;
const canPlay = () => isPlaying() && here() === latest() && !isThinking();
// Whether the list of moves and the graph are to be made anew.
let isStale = true;
// The game without what the server can tell again.
const record = () => ({ ...game, nodes: nodes(), positions: [] });
// The last game that any tab has kept. Each tab also has its own, as long as the server is the same.
const lastKept = () => kept(lasting, "secateur-game");
// The position on the board, as the server is asked about it.
const path = () => ({ start: viewer.track.start, moves: viewer.track.moves.slice(0, viewer.at) });

// A track up to a place, and these moves behind it. The server has their positions.
async function withMoves({ start, moves, positions }, at, added) {
  const line = { start, moves: [...moves.slice(0, at), ...added] };
  const found = await ask("positions", { ...line, first: at + 1 });
  return { ...line, positions: [...positions.slice(0, at + 1), ...found.positions] };
}

// Go into a line from here, to the position after so many of its moves.
async function enter({ steps, title, value, share }, count = 1) {
  const { track, at } = viewer;
  const line = await withMoves(track, at, steps.map(({ last }) => last));
  if (viewer.track !== track) return;
  // All of it has one value, but the end of a game.
  for (const each of line.positions.slice(at + 1)) if (each.share === undefined) Object.assign(each, { value, share });
  viewer.go({ ...line, title, back: track.back ?? { track, at } }, at + count);
  // The button that was pressed has gone with the position.
  if (document.activeElement === document.body) byId("leave").focus();
}

// How many times another game was asked for.
let gamesAsked = 0;

// Ask for what leads to another game. Returns null if a later one was asked for in the meantime.
async function askForGame(name, fields, tell = undefined) {
  const number = ++gamesAsked;
  const answer = await ask(name, fields, tell);
  return number === gamesAsked ? answer : null;
}

// Returns whether the game has begun: a later one may have taken its place.
async function begin(fresh) {
  const { start, moves, nodes } = fresh;
  const found = await askForGame("positions", { start, moves, nodes });
  if (!found) return false;
  game = { ...fresh, positions: [planted(found.positions)] };
  for (let ply = 0; ply < game.moves.length; ply++) game.positions.push(latest().next[0]);
  board.flipped = game.color === "black";
  goToLatest();
  passing[location.pathname] = JSON.stringify(record());
  return true;
}

// Make a tree of positions in the order of PGN. Returns the first.
function planted(positions) {
  const line = [];
  for (const position of positions) {
    line.length = position.ply - positions[0].ply;
    Object.assign(position, { next: [], from: line.at(-1) });
    position.from?.next.push(position);
    line.push(position);
  }
  return positions[0];
}

// The tree in the order of PGN, as the server has it.
function nodes() {
  const found = [];
  const rest = game.positions.slice(0, 1);
  while (rest.length) {
    const { ply, last: move, comment, before, nags, clock, next } = rest.pop();
    found.push({ ply: ply - game.positions[0].ply, move, comment, before, nags, clock });
    rest.push(...next.toReversed());
  }
  return found;
}

// Put a position behind another one of the tree, if its move is not there already. Returns the one that is there.
function grow(from, position) {
  const known = from.next.find(({ last }) => last === position.last);
  if (known) return known;
  from.next.push(Object.assign(position, { from, next: [] }));
  isStale = true;
  return position;
}

// The game goes on with a position of the tree, which is the first behind the one before it from now on.
function goOnWith(position) {
  const { from } = position;
  isStale = true;
  from.next = [position, ...from.next.filter((each) => each !== position)];
  return { moves: [...game.moves, position.last], positions: [...game.positions, position] };
}

// Go to a position of the tree, in the game or in a variation.
function goTo(position) {
  const positions = [];
  for (let each = position; each; each = each.from) positions.unshift(each);
  const at = positions.length - 1;
  if (position === game.positions[at]) return viewer.go(game, at);
  while (positions.at(-1).next.length) positions.push(positions.at(-1).next[0]);
  const moves = positions.slice(1).map(({ last }) => last);
  const back = { track: game, at: positions.findIndex((each, ply) => each !== game.positions[ply]) - 1 };
  viewer.go({ start: game.start, moves, positions, title: "Variation", back }, at);
}

function goToLatest() {
  stop();
  forgetMistakes();
  if (game.result === "*") game.result = latest().result ?? "*";
  viewer.go(game, game.moves.length);
}

// The last save: the next one waits for it.
let saving = Promise.resolve();

// The game goes on or back, or is over.
function change(fields) {
  Object.assign(game, fields, { key: "" });
  goToLatest();
  keep();
  const current = record();
  const answer = saving.then(() => ask("save", current));
  answer.then(({ key }) => {
    if (game.moves !== current.moves || game.result !== current.result) return;
    game.key = key;
    keep();
  });
  // A failure is told, and the next save comes all the same.
  saving = answer.catch(() => {});
}

function keep() {
  passing[location.pathname] = JSON.stringify(record());
  // A game that is looked at does not take the place of one that is played.
  if (game.color !== null) lasting["secateur-game"] = passing[location.pathname];
}

async function engineMoves() {
  const position = latest();
  const { start, moves } = game;
  ask("premoves", { start, moves }).then(({ premoves }) => {
    position.premoves = premoves;
    showChoices();
  });
  const answer = await question("reply", { start, moves, elo: game.elo, ...game.clock });
  if (answer) await commit(answer.move);
}

// Make a move of the game.
async function commit(move) {
  const before = game.moves;
  const from = latest();
  const { positions } = await withMoves(game, before.length, [move]);
  tick();
  // In the meantime the player may have moved, taken back, resigned, or begun another game.
  if (game.moves !== before || !isPlaying()) return;
  if (game.clock && before.length) game.clock[from.turn] += game.clock.increment;
  // What was played here before, and taken back, is a variation now.
  const position = grow(from, positions.at(-1));
  if (game.clock) position.clock = game.clock[from.turn] / 1000;
  // It is heard wherever the player looks.
  shown = from;
  change(goOnWith(position));
  makePremove(from);
}

// Play a move in the game if it is the player's turn there, or else in a variation.
const play = (move) => (canPlay() ? commit(move) : vary(move));

// A line of the engine becomes a variation, too, by a move in it. Where nobody plays, the end of the game goes on.
async function vary(move) {
  const { positions } = await withMoves(viewer.track, viewer.at, [move]);
  if (positions[0] !== game.positions[0]) return;
  const position = positions.slice(1).reduce(grow, positions[0]);
  const isLonger = game.color === null && game.result === "*" && position.from === latest();
  if (isLonger) Object.assign(game, goOnWith(position), { result: position.result ?? "*", key: "" });
  keep();
  goTo(position);
}

// How many moves are left when the player takes one back.
const fewerMoves = () => game.moves.length - (latest().turn === game.color ? 2 : 1);

function takeBack() {
  const count = fewerMoves();
  const positions = game.positions.slice(0, count + 1);
  // A game that goes on after its end has no clock. Else the clocks go back, too, and with them the increments.
  const clock = isPlaying() && game.clock ? { ...game.clock } : null;
  const first = parseInt(game.control);
  for (const color of clock ? SIDES : []) clock[color] = Math.round(1000 * (clockAfter(positions, color) ?? first));
  premove = null;
  change({ moves: game.moves.slice(0, count), positions, clock, result: "*", ending: "" });
}

// What the clock of a side showed after its last move, in seconds; undefined where no move says it.
function clockAfter(positions, color) {
  return positions.findLast(({ turn, clock }) => turn !== color && clock !== undefined)?.clock;
}

const nameOf = (color) => color[0].toUpperCase() + color.slice(1);

function lose(color, how) {
  premove = null;
  change({ result: color === "white" ? "0-1" : "1-0", ending: `${nameOf(color)} ${how}.` });
}

// The row at the board of a side: its name, and its clock.
const sideOf = (color) => byId((color === "black") === board.flipped ? "side-below" : "side-above");

let ticked = performance.now();

function tick() {
  const passed = Math.round(performance.now() - ticked);
  ticked += passed;
  for (const color of SIDES) {
    // It stands before the first move.
    const runs = game.clock !== null && isPlaying() && game.moves.length > 0 && latest().turn === color;
    sideOf(color).classList.toggle("runs", runs);
    if (game.clock === null) continue;
    if (runs) game.clock[color] = Math.max(0, game.clock[color] - passed);
    showClock(color, game.clock[color] / 1000);
    if (runs && game.clock[color] === 0) lose(color, "has lost on time");
  }
}

function showClock(color, exact) {
  const seconds = Math.ceil(exact);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const padded = (number) => String(number).padStart(2, "0");
  const clock = sideOf(color).lastElementChild;
  clock.textContent = `${hours ? `${hours}:${padded(minutes)}` : minutes}:${padded(seconds % 60)}`;
}

// Where nobody plays against the clock, the two show what the moves up to here say of them.
function showClocksOfMoves() {
  for (const color of SIDES) {
    const told = clockAfter(viewer.track.positions.slice(0, viewer.at + 1), color);
    sideOf(color).lastElementChild.hidden = told === undefined && game.clock === null;
    if (told !== undefined && game.clock === null) showClock(color, told);
  }
}
