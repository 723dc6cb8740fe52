// Games to go through: load them, find the mistakes, and retry them.
/** @type {Mistake[]} */
let mistakes = [];
/** @type {Mistake | null} what the player tries to mend, or has mended. It ends when the player goes on. */
let retry = null;
let isAnswered = false;
const isTrying = () => retry !== null && !isAnswered;

function forgetMistakes() {
  mistakes = [];
  retry = null;
  for (const position of game.positions) Object.assign(position, { error: undefined, mark: undefined });
  byId("review-text").textContent = "";
  isStale = true;
}

/** @param {string | File} given a position in FEN, or games in PGN: the first is opened, and several are listed */
async function load(given) {
  const bar = byId("loading");
  bar.hidden = false;
  const tell = ({ done = 0 }) => (bar.value = done);
  const found = await askForGame("load", new Blob([given]), tell).finally(() => (bar.hidden = true));
  if (!found) return;
  if (found.count > 1) await showLibrary();
  await openGame({ file: found.file, number: 0 }, found.remark);
  if (found.count > 1) reveal(byId("library"));
}

async function review() {
  byId("analysis").checked = false;
  forgetMistakes();
  const answer = question("review", record(), ({ done = 1 }) => (byId("progress").value = done));
  viewer.go(game, viewer.ply);
  const found = await answer;
  if (!found) return;
  const { errors, positions, accuracy: [white, black] } = found;
  mistakes = errors;
  positions.forEach((position, ply) => Object.assign(game.positions[ply], position));
  for (const error of errors) game.positions[error.index + 1].error = error;
  const count = errors.length === 1 ? "One mistake" : `${errors.length || "No"} mistakes`;
  isStale = true;
  byId("review-text").textContent = `${count}. Accuracy: White ${white}; Black ${black}.`;
  show();
  await tellReport();
}

/** @param {Mistake} error */
function mistakeCard(error) {
  const change = element("span", { className: "values", textContent: error.change });
  const title = element("h2", {}, `${nameOf(error.mark)} by ${error.player} `, change);
  const buttons = [button("Retry", () => tryAgain(error)), " ", button("Explain", () => explainPlayed(error))];
  return element("div", { id: `error-${error.index + 1}`, className: `said error ${error.mark}` }, title, ...buttons);
}

/** @param {Mistake} [error] without one, the next of the game from here, or else its first */
function tryAgain(error = mistakes.find(({ index }) => index >= viewer.ply) ?? mistakes[0]) {
  if (!error) return;
  retry = error;
  isAnswered = false;
  const position = game.positions[error.index];
  delete position.explanation;
  delete position.hint;
  board.flipped = error.player === "Black";
  byId("retry-text").textContent = `${error.player} played ${error.move} here. Find a better move.`;
  byId("retry-next").disabled = error.key ? !nextExercise() : error === mistakes.at(-1);
  viewer.go(game, error.index);
  board.element.scrollIntoView({ block: "nearest" });
}

// What was wrong with a move of the game. To who tries to mend it, that is the answer.
function explainPlayed(error) {
  if (error !== retry) retry = null;
  isAnswered = true;
  byId("retry-text").textContent = `${error.player} played ${error.move} here.`;
  viewer.go(game, error.index);
  explain(game.moves[error.index]);
}
