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
  if (text.length > data.longest) throw new Error(`A PGN here has at most ${data.longest >> 10} KiB.`);
  const { games, remark } = await request("load", { pgn: text });
  byId("choice").hidden = games.length < 2;
  byId("games").replaceChildren(...games.map(({ title }, index) => new Option(`${index + 1}. ${title}`, index)));
  const choose = async (index) => {
    await begin(newGame(games[index]));
    viewer.go(game, 0);
    notify(games[index].remark || remark);
  };
  byId("games").onchange = (event) => choose(event.target.value);
  await choose(0);
  byId("load").open = false;
}

async function review() {
  byId("explain").checked = byId("worth").checked = false;
  forgetMistakes();
  viewer.leave();
  const bar = byId("progress");
  try {
    const answer = await question("review", record(), ({ done = 1 }) => {
      bar.hidden = false;
      bar.value = done;
    });
    if (answer) showMistakes(answer);
  } finally {
    bar.hidden = asking?.name !== "review";
  }
}

function showMistakes({ errors, positions, accuracy }) {
  mistakes = errors;
  positions.forEach((position, ply) => Object.assign(game.positions[ply], position));
  for (const { index, mark } of errors) game.positions[index + 1].mark = mark;
  const [white, black] = accuracy.map((value) => (value === null ? "\u2013" : `${value} %`));
  const count = errors.length === 1 ? "One mistake" : `${errors.length || "No"} mistakes`;
  byId("review-text").textContent = `${count}. Accuracy: White ${white}, Black ${black}.`;
  byId("errors").replaceChildren(...errors.map(mistakeCard));
  show();
}

function mistakeCard(error, number) {
  const change = element("span", { className: "values", textContent: error.change });
  const show = button(error.move, () => viewer.go(game, error.index + 1));
  const title = element("h3", {}, show, ` ${error.mark} by ${error.player} `, change);
  const why = element("details", {}, element("summary", { textContent: "Why, and what was better" }));
  why.append(element("p", { textContent: error.reason }));
  for (const line of [error.better, error.played]) {
    const follow = (count) => {
      viewer.go(game, error.index);
      enter(line, count);
    };
    why.append(element("p", {}, button(line.title, () => follow(1)), ...lineButtons(line.steps, follow)));
  }
  return element("li", { className: `error ${error.mark}` }, title, button("Retry", () => tryAgain(number)), why);
}

function tryAgain(number) {
  const error = mistakes[number];
  retry = number;
  delete game.positions[error.index].proof;
  board.flipped = error.player === "Black";
  byId("retry-text").textContent = `${error.player} played ${error.move} here. Find a better move.`;
  byId("retry-next").disabled = number === mistakes.length - 1;
  viewer.go(game, error.index);
  board.element.focus({ preventScroll: true });
  board.element.scrollIntoView({ block: "nearest" });
}

async function attempt(move) {
  const position = here();
  await prove(move);
  if (retry === null || position.proof?.move !== move) return;
  const { is_error: isError, mark } = position.proof;
  const verdict = isError ? `is no better: ${mark}. Try another move` : `is right: ${mark}`;
  byId("retry-text").textContent = `${position.legal[move]} ${verdict}.`;
}

function endRetry() {
  retry = null;
  show();
}

byId("retry-end").onclick = endRetry;
byId("retry-next").onclick = () => tryAgain(retry + 1);
byId("retry-answer").onclick = () => {
  const card = byId("errors").children[retry];
  retry = null;
  card.querySelector("details").open = true;
  card.querySelector("details button").click();
};
