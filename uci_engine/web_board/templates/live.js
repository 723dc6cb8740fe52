// The board under the player's hands, and what every button and key does.
let selected = null;
// Where a piece was taken by the pointer: the square, whether it was selected before, and the place in the window.
let drag = null;
// The position of a line that is pointed at, null for none.
let pointed = null;

const targets = (square) => Object.keys(here().legal).filter((move) => move.startsWith(square));

// Show ----------------------------------------------------------------------------------------------------------------

function show() {
  const position = here();
  selected = pointed = null;
  if (retry !== null && position !== game.positions[retry.index]) retry = null;
  byId("notice").hidden = true;
  showLearnt(position);
  const parts = [position.say];
  if (position === latest()) parts.push(game.ending);
  if (isThinking()) parts.push("Secateur thinks.");
  else if (canPlay()) parts.push("Your move.");
  if (position.threat) parts.push(`Threat: ${position.threat_name}.`);
  if (position.hint) parts.push(`Hint: ${position.legal[position.hint]}.`);
  viewer.showPlace(parts.filter(Boolean).join(" "));
  byId("facts").textContent = game.title;
  byId("takeback").hidden = game.color === null;
  byId("takeback").disabled = fewerMoves() < 0;
  byId("resign").hidden = !isPlaying();
  byId("threat").disabled = byId("hint").disabled = isThinking() || Boolean(position.result);
  byId("review").hidden = isPlaying() || !game.moves.length;
  byId("progress").hidden = asking?.name !== "review";
  byId("retry").hidden = retry === null;
  byId("resume").hidden = lastKept()?.result !== "*" || lastKept().id === game.id;
  for (const color of ["white", "black"]) sideOf(color).firstChild.textContent = game.names[color];
  for (const clock of document.querySelectorAll(".clock")) clock.hidden = game.clock === null;
  byId("explained").hidden = !isExplaining();
  byId("legal").replaceChildren(...Object.values(position.legal).map((san) => new Option(san)));
  showMoves();
  goOn();
}

// What the list of moves shows. A long one is not made anew for each step.
let listed = "";

function showMoves() {
  const list = byId("moves");
  const hadFocus = list.contains(document.activeElement);
  const state = [game.id, game.moves, nodes().length, game.result, byId("review-text").textContent].join();
  if (state !== listed) list.replaceChildren(...listOfMoves());
  listed = state;
  for (const each of list.querySelectorAll("[aria-current], [tabindex='0']")) {
    each.ariaCurrent = null;
    each.tabIndex = -1;
  }
  // A line that is no part of the game is shown by where it begins.
  const current = (here().next ? here() : game.positions[viewer.ply]).button;
  if (current) current.ariaCurrent = "true";
  keepInView(list, current);
  // Tab reaches one move, and the arrows the others.
  const reached = current ?? list.querySelector("button");
  if (reached) reached.tabIndex = 0;
  if (hadFocus) reached?.focus({ preventScroll: true });
}

// The game in two columns, with comments, mistakes and variations between its moves.
function listOfMoves() {
  const [first, ...rest] = game.positions;
  const parts = first.words ? [said(first.words)] : [];
  let isFirst = true;
  for (const position of rest) {
    const { ply, error, value = "", words, from } = position;
    const move = moveButton(position, `move ${ply % 2 ? "white" : "black"} ${error?.mark ?? ""}`);
    move.append(" ", element("small", { textContent: value }));
    if (isFirst || ply % 2) parts.push(element("b", { textContent: numberOf(position) }));
    const notes = words ? [said(words)] : [];
    if (error) notes.push(mistakeCard(error));
    notes.push(...from.next.filter((each) => each !== position).map((each) => said(...variation(each))));
    parts.push(move, ...notes);
    isFirst = notes.length > 0;
  }
  parts.push(...latest().next.map((each) => said(...variation(each))));
  return game.result === "*" ? parts : [...parts, said(game.result)];
}

const said = (...parts) => element("p", { className: "said" }, ...parts);
const numberOf = ({ ply }) => `${Math.ceil(ply / 2)}${ply % 2 ? "." : "..."}`;

// Its name has the sign of the review, or else the player's.
function moveButton(position, className, number = "") {
  const { from, last, mark, sign = "" } = position;
  position.button = button(`${number}${from.legal[last]}${mark || sign}`, () => goTo(position), className);
  position.button.tabIndex = -1;
  return position.button;
}

// A variation as its moves in brackets, with what is said of them and the variations within.
function variation(first) {
  const parts = ["( "];
  let isFirst = true;
  for (let each = first; each; each = each.next[0]) {
    const others = each === first ? [] : each.from.next.slice(1);
    const number = isFirst || each.ply % 2 ? numberOf(each) : "";
    if (each.lead) parts.push(`${each.lead} `);
    parts.push(moveButton(each, "line-move", number), " ");
    if (each.words) parts.push(`${each.words} `);
    parts.push(...others.flatMap(variation));
    isFirst = Boolean(each.words) || others.length > 0;
  }
  return [...parts, ") "];
}

// Open the tab of an element, and bring that into sight.
function reveal(shown) {
  const [name] = shown.closest("section").id.split("-");
  byId(`show-${name}`).checked = true;
  shown.scrollIntoView({ block: "nearest", behavior: "instant" });
}

function drawBoard() {
  if (pointed) return board.draw(pointed);
  board.draw(here(), drawBelow);
  const { lines = [], sum, proof, hint, threat } = here();
  if (isExplaining()) {
    lines.forEach(({ steps }, index) => board.arrow(`better${index ? " second" : ""}`, steps[0].last));
    if (byId("worth").checked) {
      for (const { square, value_cp: cp } of sum?.pieces ?? []) {
        if (cp === null) continue;
        const { x, y } = board.place(square);
        board.add("text", { class: "worth-text", x: x + 22.5, y: y + 42 }, (cp / 100).toFixed(1));
      }
    }
  }
  const refutation = proof?.lines[0]?.steps[1]?.last;
  if (refutation) board.arrow("played", refutation);
  if (threat) board.arrow("played", threat);
  if (hint) board.arrow("better", hint);
}

// The squares under the pieces: where the piece that is taken may go, or else the pieces that have a good move.
function drawBelow() {
  const costs = isExplaining() ? (here().costs ?? []) : [];
  if (selected === null) {
    // The best move of a piece, which comes first, counts.
    const best = new Map(costs.toReversed().map(({ move, cost }) => [move.slice(0, 2), cost]));
    for (const [square, cost] of best) if (cost < COSTS[1]) board.fill(costClass(cost), square);
    return;
  }
  board.fill("selected", selected);
  for (const move of targets(selected)) {
    const known = costs.find((each) => each.move === move);
    board.fill(known ? costClass(known.cost) : "target", move.slice(2, 4));
  }
}

// Move ----------------------------------------------------------------------------------------------------------------

// Take or put down the piece of a square.
function touch(square) {
  const moves = selected === null ? [] : targets(selected).filter((move) => move.slice(2, 4) === square);
  selected = selected === square || moves.length || !targets(square).length ? null : square;
  if (moves.length > 1) promote(moves[0].slice(0, 4));
  else if (moves.length) act(moves[0]);
  else drawBoard();
}

// The player chooses a piece, or none.
function promote(squares) {
  const dialog = byId("promotion");
  dialog.returnValue = "";
  dialog.onclose = () => (dialog.returnValue ? act(squares + dialog.returnValue) : drawBoard());
  dialog.showModal();
}

// What a move on the board means: a question, or a move of the game or of a line.
const act = (move) => (byId("prove").checked || retry !== null ? prove(move) : play(move));

// The square under a pointer, null beside the board.
function squareAt({ clientX, clientY }) {
  const { left, top, width } = board.element.getBoundingClientRect();
  const [x, y] = [clientX - left, clientY - top].map((length) => Math.floor((8 * length) / width));
  if (x < 0 || x > 7 || y < 0 || y > 7) return null;
  return board.flipped ? "hgfedcba"[x] + (y + 1) : "abcdefgh"[x] + (8 - y);
}

board.element.onpointerdown = (event) => {
  const square = squareAt(event);
  if (event.button || square === null) return;
  drag = { square, again: selected === square, x: event.clientX, y: event.clientY };
  if (!drag.again) touch(square);
  board.element.setPointerCapture(event.pointerId);
};
// The piece is under the pointer.
board.element.onpointermove = (event) => {
  const piece = board.element.querySelector(`[data-square="${drag?.square}"]`);
  if (!piece || selected !== drag.square || !event.buttons) return;
  const scale = 360 / board.element.getBoundingClientRect().width;
  board.element.append(piece);
  piece.setAttribute("transform", `translate(${scale * (event.clientX - drag.x)} ${scale * (event.clientY - drag.y)})`);
};
board.element.onpointerup = (event) => {
  if (drag === null) return;
  const { square, again } = drag;
  const to = squareAt(event);
  drag = null;
  if (to !== null && (again || to !== square)) touch(to);
  else drawBoard();
};

// Buttons, keys and forms ---------------------------------------------------------------------------------------------

byId("notice").onclick = show;
byId("worth").onchange = drawBoard;
byId("explain").onchange = () => {
  stop();
  show();
};

async function hint() {
  const position = here();
  const answer = await question("reply", path());
  if (answer) position.hint = answer.move;
  show();
}

async function askThreat() {
  const position = here();
  const answer = byId("threat").disabled ? null : await question("threat", path());
  Object.assign(position, answer);
  show();
}

byId("type").onsubmit = (event) => {
  event.preventDefault();
  const text = byId("move").value.trim();
  const plain = (name) => name.replace(/[+#=x]/g, "").replace(/0/g, "O");
  const isMeant = ([uci, san]) => uci === text.toLowerCase() || plain(san) === plain(text);
  const found = Object.entries(here().legal).find(isMeant);
  byId("move").value = "";
  if (found) act(found[0]);
  else byId("status").textContent = `${text.slice(0, 20)} is no legal move here.`;
};

byId("new-game").onsubmit = (event) => {
  event.preventDefault();
  const color = byId("color").value || (Math.random() < 0.5 ? "white" : "black");
  const [minutes, seconds] = byId("time").value.split(" ").map(Number);
  const clock = minutes ? { white: 60000 * minutes, black: 60000 * minutes, increment: 1000 * seconds } : null;
  const from = byId("from-here").checked ? path() : {};
  beginGame({ ...from, color, clock }).then(() => reveal(byId("moves")));
};

function beginGame(fields) {
  const level = byId("level").selectedOptions[0];
  const elo = Number(level.value);
  // A player is taken to be as strong as the level.
  const title = `You are ${nameOf(fields.color)} against Secateur, ${level.text}.`;
  const names = { white: "Secateur", black: "Secateur", [fields.color]: "You" };
  return begin(newGame({ ...fields, elo, ratings: { white: elo, black: elo }, title, names }));
}

byId("load-form").onsubmit = async (event) => {
  event.preventDefault();
  const [file] = byId("file").files;
  await load(byId("pgn").value.trim() || ((await file?.text()) ?? ""));
  byId("load-form").reset();
};

// Copy a text. Where the browser forbids that, it stands in the field, to be copied by hand.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    byId("status").textContent = "Copied.";
  } catch {
    byId("pgn").value = text;
    byId("pgn").select();
    byId("status").textContent = "Copy it from the field, which has it now.";
  }
}

async function copyGame() {
  const headers = { White: game.names.white, Black: game.names.black, ...game.headers, Result: game.result };
  const { pgn } = await ask("pgn", { ...record(), headers });
  await copy(pgn);
}

async function start() {
  byId(innerWidth < 900 ? "show-moves" : "show-engine").checked = true;
  const own = ownKept();
  const isShown = own !== null && (await begin(newGame(own)).then(() => true, () => false));
  if (!isShown) await beginGame({ color: data.start.split(" ")[1] === "b" ? "black" : "white" });
  setInterval(tick, 200);
  viewer.connect([
    ["resume", "", () => begin(newGame(lastKept()))],
    ["takeback", "", takeBack],
    ["resign", "", () => lose(game.color, "resigns")],
    ["hint", "", hint],
    ["threat", "t", askThreat],
    ["copy-fen", "", () => copy(here().whole_fen)],
    ["copy-pgn", "", copyGame],
    ["review", "", review],
    ["retry-answer", "", () => showAnswer(retry)],
    ["retry-next", "", () => tryAgain(mistakes[mistakes.indexOf(retry) + 1])],
    ["", "e", () => byId("explain").click()],
    ["", "v", () => byId("prove").click()],
    ["", "w", () => byId("worth").click()],
  ]);
  if (own && !isShown) notify("A game that this browser kept cannot be read, and is forgotten.");
}

start();
