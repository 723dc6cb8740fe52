// The game on the board, the lines beside it, and what is kept of it.
const data = JSON.parse(byId("data").textContent);
const STORE = "secateur-games";
const MAX_KEPT = 8;

// `color`: the player's, null where nobody plays. `clock`: milliseconds left, null for none. A track also has its moves;
// `base` is the game before it.
let game = newGame({});
const viewer = new Viewer(game, show);

function newGame(fields) {
  const { start = data.start, chess960 = false, color = null, elo = null, clock = null, id = randomId() } = fields;
  const base = { start, chess960, moves: [] };
  const { moves = [], result = "*" } = fields;
  return { id, base, color, elo, clock, moves, positions: [], result, title: "" };
}

const isPlaying = () => game.color !== null && game.result === "*";
const here = () => viewer.here;
const end = () => game.positions.length - 1;
const path = () => {
  const { track, at } = viewer;
  return { ...track.base, moves: [...track.base.moves, ...track.moves.slice(0, at)] };
};
const wholeGame = () => ({ ...game.base, moves: game.moves });

// Fill in the positions of a track, from the one with this number.
async function addPositions(holder, first) {
  const fields = { ...holder.base, moves: [...holder.base.moves, ...holder.moves] };
  const found = await request("positions", { ...fields, first: first + holder.base.moves.length });
  holder.positions = [...holder.positions.slice(0, first), ...found.positions];
}

function keep() {
  if (game.color === null || !game.moves.length) return;
  const { id, base, color, elo, clock, moves, result } = game;
  const kept = Object.entries(stored()).filter(([key]) => key !== id).slice(1 - MAX_KEPT);
  kept.push([id, { id, ...base, color, elo, clock, moves, result }]);
  localStorage.setItem(STORE, JSON.stringify(Object.fromEntries(kept)));
  sessionStorage.setItem(STORE, id);
  request("save", { ...wholeGame(), id, color, elo, result })
    .then(({ saved }) => (byId("saved").textContent = `Saved in ${saved}.`))
    .catch((error) => notify(error.message));
}

// The games that the browser has kept, by their ids.
function stored() {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? "{}");
  } catch {
    localStorage.removeItem(STORE);
    return {};
  }
}

// Lines -----------------------------------------------------------------------------------------------------------

// Where a question was asked, so that its lines lead back there.
const place = () => ({ path: path(), position: here(), back: { track: viewer.track, at: viewer.at } });

function enter(line, from, step = 1) {
  const positions = [{ ...from.position, say: "before the line" }, ...line.steps];
  const { title, share, moves } = line;
  viewer.go({ base: from.path, title, share, moves, positions, back: from.back }, step);
}

async function tryMove(move) {
  const { track, at, isLine } = viewer;
  const line = {
    base: isLine ? track.base : path(),
    title: "Your line",
    moves: isLine ? [...track.moves.slice(0, at), move] : [move],
    positions: isLine ? track.positions.slice(0, at + 1) : [here()],
    back: isLine ? track.back : { track, at },
  };
  await addPositions(line, line.moves.length);
  viewer.go(line, line.moves.length);
}

// Play --------------------------------------------------------------------------------------------------------------

let turnNumber = 0;
let isThinking = false;
let turnBegan = performance.now();

async function begin(fresh) {
  stopThinking();
  await addPositions(fresh, 0);
  game = fresh;
  board.flipped = game.color === "black";
  turnBegan = performance.now();
  forgetMistakes();
  if (game.positions[end()].result && game.color !== null) game.result = game.positions[end()].result;
  viewer.go(game, end());
  goOn();
}

function stopThinking() {
  turnNumber++;
  isThinking = false;
  asking?.abort();
}

// If it is the engine's turn, it moves.
function goOn() {
  if (isPlaying() && game.positions[end()].turn !== game.color) engineMoves();
}

async function engineMoves() {
  stopThinking();
  const mine = turnNumber;
  isThinking = true;
  viewer.jump(end());
  let move = null;
  const whole = Object.entries(game.clock ?? {}).map(([name, ms]) => [name, Math.max(0, Math.round(ms))]);
  const clock = Object.fromEntries(whole);
  await question("reply", { ...wholeGame(), elo: game.elo, ...clock }, (answer) => ({ move } = answer), engineMoves);
  if (mine !== turnNumber) return;
  isThinking = false;
  if (move !== null) await commit(move);
}

let isCommitting = false;

async function commit(move) {
  if (isCommitting) return;
  isCommitting = true;
  const played = game;
  const longer = { ...game, moves: [...game.moves, move] };
  spend(game.positions[end()].turn);
  try {
    await addPositions(longer, longer.moves.length);
  } catch (error) {
    notify(error.message, () => commit(move));
    return;
  } finally {
    isCommitting = false;
  }
  // In the meantime the player may have begun another game, or taken a move back.
  if (game !== played || !isPlaying() || game.moves.length !== longer.moves.length - 1) return;
  game.moves = longer.moves;
  game.positions = longer.positions;
  if (game.positions[end()].result) game.result = game.positions[end()].result;
  keep();
  viewer.jump(end());
  goOn();
}

function finish(result, text) {
  stopThinking();
  game.result = result;
  game.title = text;
  keep();
  viewer.jump(end());
}

function takeBack() {
  if (game.color === null) return;
  stopThinking();
  const own = game.positions[end()].turn === game.color;
  const count = game.moves.length - (own ? 2 : 1);
  if (count < 0) return goOn();
  game.moves = game.moves.slice(0, count);
  game.positions = game.positions.slice(0, count + 1);
  game.result = "*";
  turnBegan = performance.now();
  keep();
  viewer.jump(end());
}

const nameOf = (color) => color[0].toUpperCase() + color.slice(1);
const other = (color) => (color === "white" ? "black" : "white");
const win = (color) => (color === "white" ? "1-0" : "0-1");

function resign() {
  if (isPlaying()) finish(win(other(game.color)), `${nameOf(game.color)} resigns.`);
}

// Clocks --------------------------------------------------------------------------------------------------------------

// The clock stands before the first move.
const isRunning = () => isPlaying() && game.clock !== null && game.moves.length > 0;

function spend(color) {
  if (isRunning()) game.clock[color] += game.clock.increment - (performance.now() - turnBegan);
  turnBegan = performance.now();
}

function tick() {
  if (game.clock === null) return;
  const turn = game.positions[end()].turn;
  for (const color of ["white", "black"]) {
    const id = (color === "black") === board.flipped ? "clock-below" : "clock-above";
    const runs = isRunning() && turn === color;
    const left = Math.max(0, game.clock[color] - (runs ? performance.now() - turnBegan : 0));
    const seconds = Math.ceil(left / 1000);
    byId(id).textContent = `${nameOf(color)} ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    byId(id).classList.toggle("runs", runs);
    if (runs && left === 0 && !isCommitting) {
      game.clock[color] = 0;
      finish(win(other(color)), `${nameOf(color)} has lost on time.`);
    }
  }
}
