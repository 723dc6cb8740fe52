// Games to go through: load them, find the mistakes, and retry them.
/** @type {Mistake[]} */
let mistakes = [];
/** @type {Mistake | null} what the player tries to mend. That ends when another position is shown. */
let retry = null;

function forgetMistakes() {
  mistakes = [];
  for (const position of game.positions) delete position.error;
  byId("review-text").textContent = "";
  isStale = true;
}

async function load(text) {
  const found = await askForGame("load", { pgn: text });
  if (!found) return;
  const { games, remark } = found;
  byId("choice").hidden = games.length < 2;
  byId("games").replaceChildren(...games.map(({ title }, index) => new Option(`${index + 1}. ${title}`, index)));
  byId("games").onchange = () => showGame(games[byId("games").value], remark);
  await byId("games").onchange();
}

async function showGame(chosen, remark = "") {
  if (!(await begin(newGame(chosen)))) return;
  viewer.go(game, 0);
  notify(chosen.remark || remark);
  reveal(byId("moves"));
}

async function review() {
  byId("explain").checked = false;
  forgetMistakes();
  const answer = question("review", record(), ({ done = 1 }) => (byId("progress").value = done));
  viewer.go(game, viewer.ply);
  const found = await answer;
  if (found) await showMistakes(found);
}

function showMistakes({ errors, positions, accuracy: [white, black] }) {
  mistakes = errors;
  positions.forEach((position, ply) => Object.assign(game.positions[ply], position));
  for (const error of errors) game.positions[error.index + 1].error = error;
  const count = errors.length === 1 ? "One mistake" : `${errors.length || "No"} mistakes`;
  isStale = true;
  byId("review-text").textContent = `${count}. Accuracy: White ${white}, Black ${black}.`;
  show();
  return tellReport();
}

/** @param {Mistake} error */
function mistakeCard(error) {
  const change = element("span", { className: "values", textContent: error.change });
  const title = element("h2", {}, `${nameOf(error.mark)} by ${error.player} `, change);
  const buttons = [button("Retry", () => tryAgain(error)), " ", button("Why", () => showAnswer(error))];
  return element("div", { id: `error-${error.index + 1}`, className: `said error ${error.mark}` }, title, ...buttons);
}

/** @param {Mistake} error */
function tryAgain(error) {
  retry = error;
  const position = game.positions[error.index];
  delete position.proof;
  delete position.hint;
  board.flipped = error.player === "Black";
  byId("retry-text").textContent = `${error.player} played ${error.move} here. Find a better move.`;
  byId("retry-next").disabled = error.key ? !nextExercise() : error === mistakes.at(-1);
  viewer.go(game, error.index);
  board.element.scrollIntoView({ block: "nearest" });
}

function showAnswer({ index }) {
  retry = null;
  viewer.go(game, index);
  prove(game.moves[index]);
}
