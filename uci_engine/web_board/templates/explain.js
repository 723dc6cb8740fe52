// What the engine thinks of the position on the board, and of a move that the player clicks.
const COSTS = [0.02, 0.08, 0.15, 0.3];
// What is shown as 0 %.
const LEAST_COST = 0.005;
const costClass = (cost) => `cost-${COSTS.filter((least) => cost >= least).length}`;
const percent = (share) => `${Math.round(100 * share)} %`;
const pawns = (cp) => (cp > 0 ? "+" : cp < 0 ? "\u2212" : "") + (Math.abs(cp) / 100).toFixed(2);

// All of it belongs to the position with this key.
let insight = { key: "" };

const wants = () => byId("explain").checked || byId("worth").checked;

// Begin to explain the position on the board, unless that is done already. The engine's move goes before.
function refresh(isAgain = false) {
  const key = JSON.stringify(path());
  if (key === insight.key && !isAgain) return;
  if (key !== insight.key) {
    insight = { key };
    byId("proof").hidden = true;
    showExplained();
  }
  if (isThinking) return;
  asking?.abort();
  if (!wants() || retry !== null) return;
  const from = place();
  question("explain", path(), (answer) => {
    if (insight.key !== key) return;
    if (answer.lines) insight.report = { ...answer, from };
    else Object.assign(insight, answer);
    if (answer.lines) showReport();
    else if (answer.costs) showCosts();
    else showFamilies();
    drawBoard();
  });
}

function showExplained() {
  byId("explained").hidden = !byId("explain").checked;
  showReport();
  showCosts();
  showFamilies();
}

function showReport() {
  const { report, key } = insight;
  const rows = byId("lines");
  byId("effort").textContent = report
    ? `Depth ${report.depth}, ${report.nodes.toLocaleString("en")} positions in ${report.seconds.toFixed(1)} s, ` +
      `${report.alternatives} alternatives.`
    : "";
  // What is pointed at or has the focus stays.
  if (report && rows.dataset.key === key && rows.matches(":hover, :focus-within")) return;
  rows.dataset.key = report ? key : "";
  rows.replaceChildren(
    ...(report?.lines ?? []).map((line) => {
      const words = element("td", { className: "words" }, ...lineButtons(line.steps, (step) => enter(line, report.from, step)));
      const cells = [line.value, percent(line.share)].map((textContent) => element("td", { textContent }));
      return element("tr", {}, element("th", { scope: "row", textContent: moveOf(line.steps[0]).san }), ...cells, words);
    }),
  );
}

function showCosts() {
  const focused = document.activeElement?.dataset.move;
  const before = [...byId("costs").children];
  const chips = (insight.costs ?? []).map((each) => chip(each, before));
  byId("costs").replaceChildren(...chips);
  if (focused) chips.find(({ dataset }) => dataset.move === focused)?.focus();
}

// The button of a move stays, so that a click on it is not lost.
function chip({ move, san, value, cost }, before) {
  const kept = before.find(({ dataset }) => dataset.move === move);
  const made = kept ?? element("button", { type: "button", onclick: () => prove(move) });
  made.dataset.move = move;
  made.textContent = `${san} ${value}${cost < LEAST_COST ? "" : `, \u2212${percent(cost)}`}`;
  made.className = `chip ${costClass(cost)}`;
  return made;
}

function showFamilies() {
  const { families, sum } = insight;
  const shown = families ? [...families, ["Sum", sum]] : [];
  const most = Math.max(100, ...shown.map(([, cp]) => Math.abs(cp)));
  byId("families").replaceChildren(
    ...shown.map(([name, cp]) => {
      const share = element("span", { className: `share ${cp >= 0 ? "white" : "black"}` });
      const width = (50 * Math.abs(cp)) / most;
      share.style.width = `${width}%`;
      if (cp < 0) share.style.marginLeft = `${50 - width}%`;
      const bar = element("td", { className: "words" }, share);
      const title = element("th", { scope: "row", textContent: name });
      return element("tr", {}, title, element("td", { textContent: pawns(cp) }), bar);
    }),
  );
}

// A move explained: its value, what refutes or supports it, and why.
async function prove(move) {
  if (isThinking) return;
  const from = place();
  const { key } = insight;
  await question("prove", { ...path(), move }, (answer) => {
    if (insight.key !== key) return;
    insight.proof = answer;
    showProof(answer, from);
    drawBoard();
  });
  if (insight.key === key && insight.proof?.is_last) refresh(true);
}

function showProof({ move, san, sign, value, mark, is_error: isError, texts, lines }, from) {
  byId("proof").hidden = false;
  byId("proof").className = `panel ${isError ? "bad" : "good"}`;
  const number = `${from.position.number}${from.position.turn === "white" ? "." : "..."}`;
  byId("proof-title").textContent = `${number} ${san}${sign} ${value}, ${mark}`;
  // What has not changed is not spoken again.
  const spoken = byId("proof-text");
  const paragraphs = texts.map((textContent) => element("p", { textContent }));
  if (spoken.textContent !== texts.join("")) spoken.replaceChildren(...paragraphs);
  const button = (line) => ({ type: "button", textContent: line.title, onclick: () => enter(line, from) });
  byId("proof-lines").replaceChildren(...lines.map((line) => element("button", button(line))));
  byId("proof-play").hidden = retry !== null;
  byId("proof-play").onclick = () => (canPlay() ? commit(move) : tryMove(move).catch((error) => notify(error.message)));
  if (innerWidth < 900) byId("proof").scrollIntoView({ block: "nearest" });
}
