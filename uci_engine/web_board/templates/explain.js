// What the engine thinks of the position on the board, and of a move that the player asks about. It is kept with the
// position.
const COSTS = [0.02, 0.05, 0.1, 0.15];
const costClass = (cost) => `cost-${COSTS.filter((least) => cost >= least).length}`;
const minus = (cp) => (cp < 0 ? "\u2212" : "");
const pawns = (cp) => (cp > 0 ? "+" : minus(cp)) + (Math.abs(cp) / 100).toFixed(2);

/** @type {(position: Position, answer: Learnt) => void} */
function learn(position, answer) {
  Object.assign(position, answer);
  // The value of the position is that of its best move. The table has the deepest search.
  const { value, share } = position.lines?.[0] ?? answer.costs?.[0] ?? answer.proof?.best ?? position;
  Object.assign(position, { value, share });
  drawGraph();
  if (position === here()) showLearnt(position);
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
  showValue(position);
  showLines(position);
  showCosts(position);
  showFamilies(position);
  showProof(position);
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

// Who tries again is not told what is better.
const isExplaining = () => byId("explain").checked && retry === null;

// Have the engine do what is next: move, or explain the position on the board.
function goOn() {
  const position = here();
  if (isThinking()) {
    if (asking?.name !== "reply") engineMoves();
  } else if (asking?.name !== "review" && asking?.position !== position) {
    stop();
    if (isExplaining()) question("explain", path(), (answer) => learn(position, answer));
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
    return button(`${position.legal[move]} ${value}${loss}`, () => prove(move), `chip ${costClass(cost)}`);
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
async function prove(move) {
  const position = here();
  if (isBusy()) return;
  const answer = await question("prove", { ...path(), move, ratings: game.ratings }, (answer) => {
    learn(position, { proof: { ...answer, move } });
    reveal(byId(retry === null ? "proof" : "moves"));
  });
  if (retry?.key && answer && !answer.is_error) tellReport({ solved: retry.key, index: retry.index });
  goOn();
}

/** @param {Position} position */
function showProof(position) {
  const { proof } = position;
  byId("proof").hidden = !proof || (retry !== null && proof.is_error);
  if (!proof) return;
  const verdict = proof.is_error ? "is no better" : "is right";
  if (retry !== null) byId("retry-text").textContent = `${proof.name} ${verdict}: ${proof.mark}.`;
  byId("proof").className = `panel ${proof.is_error ? "bad" : "good"}`;
  byId("proof-title").textContent = `${proof.name} ${proof.value}, ${proof.mark}`;
  // What has not changed is not spoken again.
  const spoken = byId("proof-text");
  const paragraphs = proof.texts.map((textContent) => element("p", { textContent }));
  if (spoken.textContent !== proof.texts.join("")) spoken.replaceChildren(...paragraphs);
  const buttons = proof.lines.map((line) => preview(button(line.title, () => enter(line)), line.steps.at(-1)));
  replace("proof-lines", position, buttons);
  byId("proof-play").hidden = retry !== null;
  byId("proof-play").onclick = () => play(proof.move);
}
