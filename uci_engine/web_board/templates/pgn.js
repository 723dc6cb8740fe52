// Games to go through: load them, find the mistakes, and retry them.
let mistakes = [];
// The number of the mistake that the player tries to mend, null for none.
let retry = null;

function forgetMistakes() {
  mistakes = [];
  retry = null;
  byId("errors").replaceChildren();
  byId("review-text").textContent = "";
}

async function load(text) {
  const { games } = await request("load", { pgn: text });
  byId("choice").hidden = games.length < 2;
  byId("games").replaceChildren(...games.map(({ names }, index) => new Option(`${index + 1}. ${names}`, index)));
  const choose = async (index) => {
    const loaded = games[index];
    notify(loaded.remark);
    await begin({ ...newGame(loaded), result: "*", title: loaded.names });
    viewer.jump(0);
  };
  byId("games").onchange = (event) => choose(Number(event.target.value)).catch((error) => notify(error.message));
  await choose(0);
  byId("load").open = false;
}

async function review() {
  const reviewed = game;
  viewer.leave();
  forgetMistakes();
  byId("explain").checked = byId("worth").checked = false;
  showExplained();
  const bar = byId("progress");
  bar.hidden = false;
  bar.value = 0;
  await question("review", wholeGame(), (answer) => {
    if (answer.done !== undefined) bar.value = answer.done;
    else if (game === reviewed) showMistakes(answer);
  }, review);
  bar.hidden = true;
}

function showMistakes({ errors, says, accuracy }) {
  mistakes = errors;
  says.forEach((said, ply) => Object.assign(game.positions[ply], said));
  errors.forEach(({ index, mark }) => (game.positions[index + 1].mark = mark));
  const [white, black] = accuracy.map((value) => (value === null ? "\u2013" : `${value} %`));
  const count = errors.length === 1 ? "One mistake" : `${errors.length || "No"} mistakes`;
  byId("review-text").textContent = `${count}. Accuracy: White ${white}, Black ${black}.`;
  byId("errors").replaceChildren(...errors.map(mistakeCard));
  show();
}

function mistakeCard(error, number) {
  const button = (textContent, onclick) => element("button", { type: "button", textContent, onclick });
  const from = () => ({
    path: { ...game.base, moves: game.moves.slice(0, error.index) },
    position: game.positions[error.index],
    back: { track: game, at: error.index },
  });
  const change = element("span", { className: "values", textContent: error.change });
  const show = button(error.move, () => viewer.jump(error.index + 1));
  const title = element("h3", {}, show, ` ${error.mark} by ${error.player} `, change);
  const why = element("details", {}, element("summary", { textContent: "Why, and what was better" }));
  why.append(element("p", { textContent: error.reason }));
  for (const [name, line] of [["Better", error.better], ["Played", error.played]]) {
    why.append(element("p", {}, button(name, () => enter(line, from())), ` ${line.text} (${line.value})`));
  }
  return element("li", { className: `error ${error.mark}` }, title, button("Retry", () => tryAgain(number)), why);
}

function tryAgain(number) {
  retry = number;
  const error = mistakes[number];
  board.flipped = error.player === "Black";
  byId("retry-text").textContent = `${error.player} played ${error.move} here. Find a better move.`;
  byId("retry-next").disabled = number === mistakes.length - 1;
  viewer.jump(error.index);
  board.element.focus({ preventScroll: true });
  board.element.scrollIntoView({ block: "nearest" });
}

async function attempt(move) {
  await prove(move);
  if (retry === null || insight.proof?.move !== move) return;
  const { san, is_error: isError, mark } = insight.proof;
  const verdict = isError ? `is no better: ${mark}. Try another move` : `is right: ${mark}`;
  byId("retry-text").textContent = `${san} ${verdict}.`;
}

function endRetry() {
  retry = null;
  show();
}

byId("retry-end").onclick = endRetry;
byId("retry-next").onclick = () => tryAgain(retry + 1);
byId("retry-answer").onclick = () => {
  const number = retry;
  retry = null;
  const card = byId("errors").children[number];
  card.querySelector("details").open = true;
  card.querySelector("details button").click();
};
