// The game on the board, the lines beside it, the clocks, and what is kept of the game.
const data = JSON.parse(byId("data").textContent);
const STORE = "secateur-board";
const MAX_KEPT = 8;

// A track also has all moves that led there. Its positions are those after the first `from` of them.
let game = newGame({});
const viewer = new Viewer(game, show);

// `color`: the player's, null where nobody plays. `elo`: 0 for full strength. `clock`: milliseconds, null for none.
function newGame(fields) {
  return {
    id: crypto.getRandomValues(new BigUint64Array(1))[0].toString(16),
    start: data.start,
    chess960: data.chess960,
    moves: [],
    from: 0,
    color: null,
    elo: 0,
    clock: null,
    result: "*",
    title: "",
    ...fields,
    positions: [],
  };
}

const here = () => viewer.here;
const latest = () => game.positions.at(-1);
const isPlaying = () => game.color !== null && game.result === "*";
const isThinking = () => isPlaying() && latest().turn !== game.color;
const canPlay = () => isPlaying() && here() === latest() && !isThinking();
// The game without what the server can tell again.
const record = () => ({ ...game, positions: [] });

// The position on the board, as the server is asked about it.
function path() {
  const { start, chess960, moves, from } = viewer.track;
  return { start, chess960, moves: moves.slice(0, from + viewer.at) };
}

// Ask for the positions that a track does not have yet.
async function fill(holder) {
  const { start, chess960, moves, from, positions } = holder;
  const found = await request("positions", { start, chess960, moves, first: from + positions.length });
  positions.push(...found.positions);
}

function keep() {
  if (game.color === null) return;
  const others = stored().filter(({ id }) => id !== game.id);
  localStorage.setItem(STORE, JSON.stringify([...others, record()].slice(-MAX_KEPT)));
  // In this tab it is the game to go on with, as long as the server is the same.
  sessionStorage.setItem(location.pathname, game.id);
  request("save", record()).then(({ saved }) => {
    byId("saved").textContent = `Saved in ${saved}.`;
  });
}

// The games that the browser has kept.
function stored() {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? "[]");
  } catch {
    return [];
  }
}

// Lines ---------------------------------------------------------------------------------------------------------------

// Go into a line from here, to the position after so many of its moves.
async function enter({ steps, title, share }, count = 1) {
  const { start, chess960, moves } = path();
  const { track, at, isLine } = viewer;
  const line = {
    start,
    chess960,
    moves: [...moves, ...steps.map(({ move }) => move)],
    from: isLine ? track.from : at,
    positions: isLine ? track.positions.slice(0, at + 1) : [here()],
    back: isLine ? track.back : { track, at },
    title,
    share,
  };
  const to = line.positions.length - 1 + count;
  await fill(line);
  viewer.go(line, to);
}

// Play --------------------------------------------------------------------------------------------------------------

let turnBegan = performance.now();

async function begin(fresh) {
  await fill(fresh);
  game = fresh;
  board.flipped = game.color === "black";
  changed();
}

// The game is another one, or has gone back.
function changed() {
  stop();
  forgetMistakes();
  turnBegan = performance.now();
  if (game.color !== null) game.result = latest().result ?? game.result;
  viewer.go(game, game.moves.length);
}

async function engineMoves() {
  const answer = await question("reply", { ...record(), ...game.clock });
  if (answer) await commit(answer.move);
}

// Make a move of the game.
async function commit(move) {
  const { moves, positions } = game;
  const longer = { ...game, moves: [...moves, move], positions: [...positions] };
  await fill(longer);
  // In the meantime the player may have moved, taken back, resigned, or begun another game.
  if (game.moves !== moves || !isPlaying()) return;
  if (isRunning()) {
    const { turn } = latest();
    game.clock[turn] = timeLeft(turn) + game.clock.increment;
  }
  turnBegan = performance.now();
  game.moves = longer.moves;
  game.positions = longer.positions;
  game.result = latest().result ?? "*";
  keep();
  viewer.go(game, game.moves.length);
}

// Play a move in the game if it is the player's turn there, or else in a line.
const play = (move) => (canPlay() ? commit(move) : enter({ steps: [{ move }], title: "Your line" }));

function takeBack() {
  if (game.color === null) return;
  const count = game.moves.length - (latest().turn === game.color ? 2 : 1);
  if (count < 0) return;
  // A game that goes on after its end has no clock.
  if (!isPlaying()) game.clock = null;
  game.moves = game.moves.slice(0, count);
  game.positions = game.positions.slice(0, count + 1);
  game.result = "*";
  game.title = "";
  keep();
  changed();
}

const nameOf = (color) => color[0].toUpperCase() + color.slice(1);

function lose(color, how) {
  if (isRunning()) game.clock[latest().turn] = timeLeft(latest().turn);
  stop();
  game.result = color === "white" ? "0-1" : "1-0";
  game.title = `${nameOf(color)} ${how}.`;
  keep();
  viewer.go(game, game.moves.length);
}

function resign() {
  if (isPlaying()) lose(game.color, "resigns");
}

// Clocks --------------------------------------------------------------------------------------------------------------

// The clock stands before the first move.
const isRunning = () => isPlaying() && game.clock !== null && game.moves.length > 0;

const timeLeft = (color) => Math.max(0, Math.round(game.clock[color] - (performance.now() - turnBegan)));

function tick() {
  if (game.clock === null) return;
  for (const color of ["white", "black"]) {
    const id = (color === "black") === board.flipped ? "clock-below" : "clock-above";
    const runs = isRunning() && latest().turn === color;
    const left = runs ? timeLeft(color) : game.clock[color];
    const seconds = Math.ceil(left / 1000);
    byId(id).textContent = `${nameOf(color)} ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    byId(id).classList.toggle("runs", runs);
    if (runs && left === 0) lose(color, "has lost on time");
  }
}
