// What the engine thinks of the position on the board, and of a move that the player asks about. It is kept with the
// position.
const COSTS = [0.02, 0.05, 0.1, 0.15];
const costClass = (cost) => `cost-${COSTS.filter((least) => cost >= least).length}`;
const pawns = (cp, digits = 2) => (cp > 0 ? "+" : "") + (cp / 100).toFixed(digits).replace("-", "\u2212");

/** @type {(position: Position, answer: Learnt) => void} */
function learn(position, answer) {
  Object.assign(position, answer);
  // The value of the position is that of its best move. Of an analysis the table has the deepest search.
  const { value, share } = answer.explanation?.best ?? position.lines?.[0] ?? answer.costs?.[0] ?? position;
  Object.assign(position, { value, share });
  drawGraph();
  if (position !== here()) return;
  showLearnt(position);
  if (position.hint) viewer.showPlace(statusOf(position));
}

// What each move costs, best first. The table has searched deeper: it is right about its moves, and no other is better
// than its last one.
/** @param {Position} position */
function costsOf({ costs = [], lines = [], turn }) {
  const expected = ({ share }) => (turn === "white" ? share : 1 - share);
  const last = lines.at(-1);
  const known = costs.map(({ move, ...each }) => {
    const line = lines.find(({ steps }) => steps[0].last === move);
    const { value, share } = line ?? (last && expected(last) < expected(each) ? last : each);
    return { move, value, share };
  });
  const best = Math.max(...known.map(expected));
  return known.map((each) => ({ ...each, cost: best - expected(each) })).sort((a, b) => a.cost - b.cost);
}

/** @param {Position} position */
function showLearnt(position) {
  drawBoard();
  byId("analysed").hidden = !isAnalysing();
  showValue(position);
  showLines(position);
  showCosts(position);
  showFamilies(position);
  showExplanation(explained());
}

// The bar and the number. Where there is no value, the bar is faint.
/** @param {Position} position */
function showValue({ value = "", share }) {
  viewer.showShare(share);
  byId("bar").classList.toggle("unknown", share === undefined);
  byId("value").textContent = value;
  const inList = here().button?.querySelector("small");
  if (inList) inList.textContent = value;
  if (isStale) drawGraph();
  showGraph();
}

// Where the explanation is that is shown: it stays beside its lines.
const explained = () => (here().explanation ? here() : game.positions[viewer.ply]);
// Who tries again is not told what is better, and who asks about a move has one answer.
const isAnalysing = () => byId("analysis").checked && !isTrying() && !explained().explanation;

// Have the engine do what is next: move, or explain the position on the board.
function goOn() {
  const position = here();
  if (isThinking()) {
    if (asking?.name !== "reply") engineMoves();
  } else if (asking?.name !== "review" && asking?.position !== position) {
    stop();
    if (isAnalysing()) question("analyse", path(), (answer) => learn(position, answer));
  }
}

function row(title, texts, ...words) {
  const heading = element("th", { scope: "row", textContent: title });
  const cells = texts.map((textContent) => element("td", { textContent }));
  return element("tr", {}, heading, ...cells, element("td", { className: "words" }, ...words));
}

// Show what belongs to a position. What is pointed at there, or has the focus, stays.
function replace(id, position, children) {
  const holder = byId(id);
  if (holder.position === position && holder.matches(":hover, :focus-within")) return;
  holder.position = position;
  holder.replaceChildren(...children);
}

/** @param {Position} position */
function showLines(position) {
  byId("effort").textContent = position.effort ?? "";
  byId("tablebase").textContent = position.tablebase ? `Tablebases: ${position.tablebase}.` : "";
  const rows = (position.lines ?? []).map((line) => {
    const buttons = lineButtons(line.steps, (count) => enter(line, count));
    buttons.forEach((each, index) => preview(each, line.steps[index]));
    return row(position.legal[line.steps[0].last], [line.value, `${Math.round(100 * line.share)} %`], ...buttons);
  });
  replace("lines", position, rows);
}

// Have the board show a position of a line, as long as the button is pointed at or has the focus.
function preview(button, step) {
  // Not when the page moves under a pointer that rests.
  button.onpointermove = button.onfocus = () => pointed === step || lookAt(step);
  button.onpointerleave = button.onblur = () => lookAt(null);
  return button;
}

/** @param {Position} position */
function showCosts(position) {
  const chips = costsOf(position).map(({ move, value, cost }) => {
    const percent = Math.round(100 * cost);
    const loss = percent ? ` \u2212${percent} %` : "";
    return button(`${position.legal[move]} ${value}${loss}`, () => explain(move), `chip ${costClass(cost)}`);
  });
  replace("costs", position, chips);
}

/** @param {Position} position */
function showFamilies({ sum }) {
  const families = (sum?.families ?? []).map((each) => [each.name, each.difference_cp]).filter(([, cp]) => cp);
  const most = Math.max(100, ...families.map(([, cp]) => Math.abs(cp)));
  const rows = [...families, ["Sum", sum?.white_score_cp]].map(([name, cp]) => {
    const share = element("span", { className: `share ${cp < 0 ? "black" : "white"}` });
    share.style.setProperty("--share", cp / most);
    return row(name, [pawns(cp)], share);
  });
  byId("families").replaceChildren(...rows);
}

/** @type {(move: string) => Promise<void>} a move explained: its value, what refutes or supports it, and why */
async function explain(move) {
  const position = here();
  if (isBusy()) return;
  let isNew = true;
  const answer = await question("explain", { ...path(), move, ratings: game.ratings }, (answer) => {
    learn(position, { explanation: { ...answer, move } });
    if (isNew) reveal(byId(isTrying() ? "moves" : "explanation"));
    isNew = false;
  });
  if (isTrying() && answer && !answer.is_error) {
    isAnswered = true;
    show();
    if (retry.key) tellReport({ solved: retry.key, index: retry.index });
  }
  goOn();
}

/** @param {Position} position */
function showExplanation({ explanation }) {
  byId("explanation").hidden = !explanation || (isTrying() && explanation.is_error);
  if (!explanation) return;
  const { name, mark, is_error: isError, texts, lines, move } = explanation;
  if (isTrying()) byId("retry-text").textContent = `${name} ${isError ? "is no better" : "is right"}: ${mark}.`;
  byId("explanation").className = `panel ${isError ? "bad" : "good"}`;
  const spoken = byId("explanation-text");
  const paragraphs = texts.map((textContent) => element("p", { textContent }));
  if (spoken.textContent !== texts.join("")) spoken.replaceChildren(...paragraphs);
  const fromThere = (act) => () => {
    if (!here().explanation) viewer.go(game, viewer.ply);
    act();
  };
  // A button that is pointed at stays, and says what it does now.
  const buttons = byId("explanation-lines");
  while (buttons.children.length > lines.length) buttons.lastChild.remove();
  for (const [index, line] of lines.entries()) {
    const shown = buttons.children[index] ?? buttons.appendChild(button(""));
    const onclick = fromThere(() => enter(line));
    preview(Object.assign(shown, { textContent: line.title, onclick }), line.steps.at(-1));
  }
  byId("explanation-play").hidden = isTrying();
  byId("explanation-play").onclick = fromThere(() => play(move));
}
