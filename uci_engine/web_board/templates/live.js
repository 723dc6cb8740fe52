// The board under the player's hands, and what every button and key does.
const { board } = viewer;
let selected = null;
let cursor = null;
let drag = null;

const targets = (square) => Object.keys(here().legal).filter((move) => move.startsWith(square));

// Show ----------------------------------------------------------------------------------------------------------------

function show() {
  selected = null;
  drawBoard();
  const position = here();
  const parts = [position.say];
  if (game.color !== null && position === latest()) parts.push(game.title);
  if (isThinking()) parts.push("Secateur thinks.");
  else if (canPlay()) parts.push("Your move.");
  viewer.showPlace(parts.filter(Boolean).join(" "), position.lines?.[0]?.share);
  byId("facts").textContent = facts();
  byId("takeback").disabled = game.color === null || !game.moves.length;
  byId("resign").disabled = !isPlaying();
  byId("hint").disabled = isThinking() || Boolean(position.result);
  byId("review").disabled = isPlaying() || !game.moves.length;
  byId("retry").hidden = retry === null;
  byId("clock-below").hidden = byId("clock-above").hidden = game.clock === null;
  byId("explained").hidden = !byId("explain").checked || retry !== null;
  for (const view of Object.values(VIEWS)) view(position);
  showMoves();
  goOn();
}

function levelName(elo) {
  const option = [...byId("level").options].find(({ value }) => value === String(elo));
  return option?.text ?? `level ${elo}`;
}

function facts() {
  if (game.color === null) return game.title || "A position to look at.";
  const result = game.result === "*" ? "" : ` ${game.result}`;
  return `You are ${nameOf(game.color)} against Secateur, ${levelName(game.elo)}.${result}`;
}

function showMoves() {
  const ply = viewer.isLine ? viewer.track.from : viewer.at;
  const moves = byId("moves");
  const hadFocus = moves.contains(document.activeElement);
  const [, ...positions] = game.positions;
  const buttons = lineButtons(positions, (ply) => viewer.go(game, ply));
  positions.forEach(({ mark = "" }, index) => {
    buttons[index].className = `move ${mark}`;
    // Tab reaches one move, and the arrows the others.
    buttons[index].tabIndex = index + 1 === (ply || 1) ? 0 : -1;
  });
  buttons[ply - 1]?.setAttribute("aria-current", "true");
  moves.replaceChildren(...buttons, game.result === "*" ? "" : ` ${game.result}`);
  if (hadFocus) moves.querySelector("[tabindex='0']")?.focus();
}

function drawBoard() {
  if (here()) board.draw(here(), drawBelow, drawAbove);
}

function drawBelow() {
  const costs = byId("explain").checked && retry === null ? (here().costs ?? []) : [];
  if (selected === null) {
    // Each piece by the best of its moves, where that is good.
    const seen = new Set();
    for (const { move, cost } of costs) {
      const square = move.slice(0, 2);
      if (!seen.has(square) && cost < COSTS[1]) board.fill(costClass(cost), square);
      seen.add(square);
    }
  } else {
    board.fill("selected", selected);
    for (const move of targets(selected)) {
      const known = costs.find((each) => each.move === move);
      const square = move.slice(2, 4);
      if (known) board.fill(costClass(known.cost), square);
      else {
        const { x, y } = board.place(square);
        board.add("circle", { class: "target", cx: x + 22.5, cy: y + 22.5, r: 8 });
      }
    }
  }
}

function drawAbove() {
  const { costs = [], lines = [], worth = {}, proof, hint } = here();
  if (byId("explain").checked && retry === null) {
    for (const { move, cost } of costs) {
      const text = cost < LEAST_COST ? "best" : `\u2212${percent(cost)}`;
      if (selected !== null && move.startsWith(selected)) label("cost-text", move.slice(2, 4), text, 12);
    }
    lines.forEach((line, index) => board.arrow(`better${index ? " second" : ""}`, line.steps[0].move));
  }
  if (byId("worth").checked) {
    for (const [square, cp] of Object.entries(worth)) label("worth-text", square, (cp / 100).toFixed(1), 42);
  }
  const refutation = proof?.lines[0]?.steps[1]?.move;
  if (refutation) board.arrow("played", refutation);
  if (hint) board.arrow("better", hint);
  if (cursor && document.activeElement === board.element) board.fill("cursor-square", cursor);
  lift();
}

function label(name, square, text, y) {
  const place = board.place(square);
  board.add("text", { class: name, x: place.x + 22.5, y: place.y + y }, text);
}

// Move ----------------------------------------------------------------------------------------------------------------

function say(text) {
  byId("status").textContent = text;
}

// Take or put down the piece of a square.
function touch(square) {
  if (selected !== null && selected !== square) {
    const from = selected;
    selected = null;
    if (targets(from).some((move) => move.slice(2, 4) === square)) return void moveTo(from, square);
  }
  selected = selected === square || !targets(square).length ? null : square;
  drawBoard();
}

async function moveTo(from, to) {
  const moves = targets(from).filter((move) => move.slice(2, 4) === to);
  const move = moves.length > 1 ? from + to + (await promotion()) : moves[0];
  if (moves.includes(move)) await act(move);
  else drawBoard();
}

// The letter of the piece that the player chooses, "" for none.
function promotion() {
  const dialog = byId("promotion");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue);
  });
}

// What a move on the board means: a try, a question, a move of the game, or of a line.
async function act(move) {
  selected = null;
  try {
    if (retry !== null) await attempt(move);
    else if (byId("prove").checked) await prove(move);
    else if (isPlaying() && !viewer.isLine && !canPlay()) {
      say(isThinking() ? "Secateur is to move." : "This is an earlier position: go to the last one to play on.");
    } else await play(move);
  } finally {
    drawBoard();
  }
}

// Show the dragged piece under the pointer.
function lift() {
  const piece = board.element.querySelector(`[data-square="${drag?.square}"]`);
  if (!drag?.moved || !piece) return;
  board.element.append(piece);
  piece.setAttribute("class", "dragged");
  piece.setAttribute("transform", `translate(${drag.x} ${drag.y})`);
}

// The square under a pointer.
function squareAt(event) {
  const box = board.element.getBoundingClientRect();
  const x = Math.floor((8 * (event.clientX - box.left)) / box.width);
  const y = Math.floor((8 * (event.clientY - box.top)) / box.height);
  if (x < 0 || x > 7 || y < 0 || y > 7) return null;
  return board.flipped ? "hgfedcba"[x] + (y + 1) : "abcdefgh"[x] + (8 - y);
}

board.element.addEventListener("pointerdown", (event) => {
  const square = squareAt(event);
  if (event.button || square === null) return;
  const wasSelected = selected === square;
  if (!wasSelected) touch(square);
  if (selected === square) drag = { square, wasSelected, from: event, moved: false };
  board.element.setPointerCapture(event.pointerId);
});
board.element.addEventListener("pointermove", (event) => {
  if (drag === null) return;
  const scale = 360 / board.element.getBoundingClientRect().width;
  drag.x = scale * (event.clientX - drag.from.clientX);
  drag.y = scale * (event.clientY - drag.from.clientY);
  drag.moved ||= Math.hypot(drag.x, drag.y) > 6;
  lift();
});
board.element.addEventListener("pointerup", (event) => {
  if (drag === null) return;
  const { square, wasSelected, moved } = drag;
  drag = null;
  const to = squareAt(event);
  if (moved && to !== null && to !== square) touch(to);
  else if (wasSelected && !moved) touch(square);
  else drawBoard();
});
board.element.addEventListener("pointercancel", () => {
  drag = null;
  drawBoard();
});

// Keys ----------------------------------------------------------------------------------------------------------------

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

board.element.addEventListener("keydown", (event) => {
  const arrowed = ARROWS[event.key];
  if (arrowed) {
    const sign = board.flipped ? -1 : 1;
    const from = cursor ?? (board.flipped ? "d8" : "e1");
    const within = (value) => Math.max(0, Math.min(7, value));
    const x = within(from.charCodeAt(0) - 97 + sign * arrowed[0]);
    const y = within(Number(from[1]) - 1 + sign * arrowed[1]);
    cursor = "abcdefgh"[x] + (y + 1);
    const letter = Board.read(here().fen)[cursor];
    const color = letter && (letter === letter.toUpperCase() ? "white" : "black");
    say(`${cursor}${letter ? `, ${color} ${Board.NAMES[letter.toUpperCase()]}` : ""}`);
    drawBoard();
  } else if ((event.key === "Enter" || event.key === " ") && cursor) {
    const before = selected;
    touch(cursor);
    if (selected) say(`${selected} taken. ${targets(selected).map((move) => here().legal[move]).join(", ")}.`);
    else if (before === null) say(`${cursor} has no move.`);
  } else if (event.key === "Escape" && selected) touch(selected);
  else return;
  event.preventDefault();
  event.stopPropagation();
});
for (const kind of ["focus", "blur"]) board.element.addEventListener(kind, () => drawBoard());

function toggle(id) {
  byId(id).checked = !byId(id).checked;
  byId(id).dispatchEvent(new Event("change"));
}

viewer.connect([
  ["takeback", "", takeBack],
  ["resign", "", resign],
  ["hint", "", hint],
  ["review", "", review],
  ["", "e", () => toggle("explain")],
  ["", "v", () => toggle("prove")],
  ["", "w", () => toggle("worth")],
]);

async function hint() {
  const position = here();
  const answer = await question("reply", path());
  if (answer) {
    learn(position, { hint: answer.move });
    say(`Hint: ${position.legal[answer.move]}.`);
  }
  goOn();
}

byId("explain").onchange = byId("worth").onchange = () => {
  if (!isThinking()) stop();
  show();
};

byId("type").onsubmit = (event) => {
  event.preventDefault();
  const text = byId("move").value.trim();
  const plain = (name) => name.replace(/[+#=x]/g, "").replace(/0/g, "O");
  const isMeant = ([uci, san]) => uci === text.toLowerCase() || plain(san) === plain(text);
  const found = Object.entries(here().legal).find(isMeant);
  byId("move").value = "";
  if (found) act(found[0]);
  else say(`${text.slice(0, 20)} is no legal move here.`);
};

// Games ---------------------------------------------------------------------------------------------------------------

byId("new-game").onsubmit = (event) => {
  event.preventDefault();
  const color = byId("color").value || (Math.random() < 0.5 ? "white" : "black");
  const [minutes, seconds] = byId("time").value.split(" ").map(Number);
  const clock = minutes ? { white: 60000 * minutes, black: 60000 * minutes, increment: 1000 * seconds } : null;
  const from = byId("from-here").checked ? path() : {};
  byId("new").open = false;
  begin(newGame({ ...from, color, elo: Number(byId("level").value), clock }));
};

byId("load-form").onsubmit = async (event) => {
  event.preventDefault();
  const [file] = byId("file").files;
  await load(byId("pgn").value.trim() || ((await file?.text()) ?? ""));
  byId("load-form").reset();
};

function offerUnfinished(own) {
  const games = stored().filter(({ id, result, moves }) => result === "*" && id !== own && moves.length);
  const buttons = games.map((kept) => {
    const names = `${nameOf(kept.color)} against ${levelName(kept.elo)}`;
    const resume = (event) => {
      event.target.remove();
      begin(newGame(kept));
    };
    return button(`Continue: ${names}, ${kept.moves.length} half-moves`, resume);
  });
  byId("unfinished").replaceChildren(...buttons);
}

async function start() {
  board.element.tabIndex = 0;
  board.element.setAttribute("role", "application");
  setInterval(tick, 200);
  const own = stored().find(({ id }) => id === sessionStorage.getItem(location.pathname));
  offerUnfinished(own?.id);
  const color = data.start.split(" ")[1] === "b" ? "black" : "white";
  await begin(newGame(own ?? { color, elo: Number(byId("level").value) }));
  if (!own && data.pgn) await load(data.pgn);
}

start();
