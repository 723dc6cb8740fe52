// What is shown, and what every button and key does.

// The position that is shown, and that of a line that is pointed at, null for none.
let shown = null;
let pointed = null;

// Show ----------------------------------------------------------------------------------------------------------------

function show() {
  const position = here();
  selected = pointed = null;
  if ((isAnswered ? viewer.ply : game.positions.indexOf(position)) !== retry?.index) retry = null;
  // A step forward is heard.
  if (shown !== null && viewer.track.positions[viewer.at - 1] === shown) sound.play(soundOf(shown, position));
  shown = position;
  byId("notice").hidden = true;
  // The engine works while the rest is drawn.
  goOn();
  showLearnt(position);
  viewer.showPlace(statusOf(position));
  byId("facts").textContent = game.title;
  const named = viewer.track.positions.slice(0, viewer.at + 1).findLast(({ opening }) => opening);
  byId("opening").textContent = named?.opening ?? "";
  for (const color of SIDES) sideOf(color).firstChild.textContent = game.names[color];
  showClocksOfMoves();
  showButtons(position);
  showChoices();
  showMoves();
}

/** @param {Position} position the best move that is known of it, once a hint was asked for */
const hintOf = ({ hint, lines }) => lines?.[0].steps[0].last ?? hint;

/** @type {(position: Position) => string} what is said of a position, and of who is to do what */
function statusOf(position) {
  const parts = [position.say];
  if (position === latest()) parts.push(game.ending);
  if (isThinking()) parts.push("Secateur thinks.");
  else if (canPlay()) parts.push("Your move.");
  if (waitingMove()) parts.push(`Premove: ${position.premoves[waitingMove()]}.`);
  if (position.threat) parts.push(`Threat: ${position.threat_name}.`);
  if (position.hint) parts.push(`Hint: ${position.legal[hintOf(position)]}.`);
  return parts.filter(Boolean).join(" ");
}

/** @param {Position} position */
function showButtons(position) {
  byId("play-from").hidden = isPlaying() && position === latest();
  byId("play-from").disabled = Boolean(position.result);
  byId("takeback").hidden = game.color === null || position !== latest();
  byId("takeback").disabled = fewerMoves() < 0;
  byId("resign").hidden = !isPlaying() || position !== latest();
  byId("threat").disabled = byId("hint").disabled = isThinking() || Boolean(position.result);
  byId("review").hidden = isPlaying() || !game.moves.length || latest().mark !== undefined;
  byId("progress").hidden = asking?.name !== "review";
  byId("retry").hidden = retry === null;
  byId("retry-answer").hidden = !isTrying();
  byId("retry-start").hidden = !mistakes.length || retry !== null;
  byId("resume").hidden = lastKept()?.result !== "*" || lastKept().id === game.id;
}

// Open the tab of an element, and bring that into sight.
function reveal(shown) {
  const [name] = shown.closest("section").id.split("-");
  byId(`show-${name}`).checked = true;
  shown.scrollIntoView({ block: "nearest", behavior: "instant" });
}

// The board shows another position for a moment, null for none.
function lookAt(position) {
  pointed = position;
  drawBoard();
}

function drawBoard() {
  if (pointed) return board.draw(pointed, undefined, true);
  board.draw(here(), drawBelow);
  const { lines = [], sum, explanation, hint, threat } = here();
  if (isAnalysing()) {
    lines.forEach(({ steps }, index) => board.arrow(`better${index ? " second" : ""}`, steps[0].last));
    if (byId("worth").checked) {
      for (const { square, value_cp: cp } of sum?.pieces ?? []) {
        if (cp === null) continue;
        const { x, y } = board.place(square);
        board.add("text", { class: "worth-text", x: x + 22.5, y: y + 42 }, pawns(cp, 1).replace("+", ""));
      }
    }
  }
  if (explanation) {
    const [asked, reply] = explanation.lines[0].steps;
    board.arrow("asked", asked.last);
    if (reply) board.arrow("played", reply.last);
    const { move } = explanation.best;
    if (move && move !== asked.last && !isTrying()) board.arrow("better", move);
  }
  if (threat) board.arrow("played", threat);
  if (hint) board.arrow("better", hintOf(here()));
}

// Buttons, keys and forms ---------------------------------------------------------------------------------------------

byId("notice").onclick = show;
byId("worth").onchange = drawBoard;
byId("analysis").onchange = byId("explanation-close").onclick = () => {
  stop();
  delete explained().explanation;
  show();
};

// The button asks, and another one resigns.
byId("resigning").onclose = ({ target }) => {
  if (target.returnValue && isPlaying()) lose(game.color, "resigns");
  target.returnValue = "";
};

// Ask the engine for what the board then shows.
async function askFor(name, learnt = (answer) => answer) {
  const position = here();
  // The best move of an analysis is known.
  const [best] = name === "reply" ? (position.lines ?? []) : [];
  const answer = best ? { move: best.steps[0].last } : await question(name, path());
  if (answer) Object.assign(position, learnt(answer));
  show();
}

byId("new-game").onsubmit = (event) => {
  event.preventDefault();
  const color = byId("color").value || (Math.random() < 0.5 ? "white" : "black");
  const [minutes, seconds] = byId("time").value.split(" ").map(Number);
  const clock = minutes ? { white: 60000 * minutes, black: 60000 * minutes, increment: 1000 * seconds } : null;
  const control = minutes ? `${60 * minutes}+${seconds}` : "-";
  beginGame({ color, clock, control }).then(() => reveal(byId("moves")));
};

function beginGame(fields) {
  const level = byId("level").selectedOptions[0];
  const elo = Number(level.value);
  // A player is taken to be as strong as the level.
  const title = `Level: ${level.text}.`;
  const names = { white: "Secateur", black: "Secateur", [fields.color]: "You" };
  return begin(newGame({ ...fields, elo, ratings: { white: elo, black: elo }, title, names }));
}

byId("load-form").onsubmit = async (event) => {
  event.preventDefault();
  await load(byId("pgn").value.trim() || (byId("file").files[0] ?? ""));
  byId("load-form").reset();
};

// Copy a text. The button answers for four seconds.
async function copy(text, button) {
  const asked = button.textContent;
  button.textContent = await navigator.clipboard.writeText(text).then(() => "Copied", () => "The browser forbids it");
  setTimeout(() => (button.textContent = asked), 4000);
}

async function copyGame() {
  const headers = { White: game.names.white, Black: game.names.black, ...game.headers, Result: game.result };
  const { pgn } = await ask("pgn", { ...record(), color: game.color ?? "", headers });
  await copy(pgn, byId("copy-pgn"));
}

async function start() {
  byId(innerWidth < 900 ? "show-moves" : "show-engine").checked = true;
  // The level is that of the last game.
  const elo = lastKept()?.elo;
  for (const level of byId("level").options) level.selected ||= Number(level.value) === elo;
  const own = kept(passing, location.pathname);
  const isShown = own !== null && (await begin(newGame(own)).then(() => true, () => false));
  if (!isShown) await beginGame({ color: data.start.split(" ")[1] === "b" ? "black" : "white" });
  connectHands();
  // What opens beside the list makes it smaller.
  new ResizeObserver(showMoves).observe(byId("moves"));
  setInterval(tick, 200);
  viewer.connect([
    ["resume", "", () => begin(newGame(lastKept()))],
    ["takeback", "", takeBack],
    ["resign", "", () => byId("resigning").showModal()],
    ["play-from", "", () => beginGame({ ...path(), color: here().turn })],
    ["sound", "s", sound.turn],
    ["hint", "", () => askFor("reply", ({ move }) => ({ hint: move }))],
    ["threat", "t", () => byId("threat").disabled || askFor("threat")],
    ["copy-fen", "", () => copy(here().whole_fen, byId("copy-fen"))],
    ["copy-pgn", "", copyGame],
    ["review", "", review],
    ["retry-start", "r", () => tryAgain()],
    ["retry-answer", "", () => explainPlayed(retry)],
    ["retry-next", "", tryNext],
    ["solve", "", () => solve(nextExercise())],
    ["analyse-rest", "", analyseRest],
    ["", "Escape", dropPremove],
    ["", "a", () => byId("analysis").click()],
    ["", "e", () => byId("explain").click()],
    ["", "w", () => byId("worth").click()],
  ]);
  if (own && !isShown) notify("A game that this browser kept cannot be read, and is forgotten.");
}

start();
