// What the engine thinks of the position on the board, and of a move that the player clicks.
const COSTS = [0.02, 0.08, 0.15, 0.3];
const costClass = (cost) => `cost-${COSTS.filter((least) => cost >= least).length}`;
const percent = (share) => `${Math.round(100 * share)} %`;
const pawns = (cp) => (cp > 0 ? "+" : cp < 0 ? "\u2212" : "") + (Math.abs(cp) / 100).toFixed(2);

// All of it belongs to the position with this key.
let insight = { key: "" };

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

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
    showExplained();
    drawBoard();
  });
}

function showExplained() {
  const { families, costs, report } = insight;
  byId("explained").hidden = !byId("explain").checked;
  byId("effort").textContent = report
    ? `Depth ${report.depth}, ${report.nodes.toLocaleString("en")} positions in ${report.seconds.toFixed(1)} s, ` +
      `${report.alternatives} alternatives.`
    : "";
  showLines(report);
  byId("costs").replaceChildren(...(costs ?? []).map(chip));
  if (families) showFamilies([...families, ["Sum", insight.sum]]);
  else byId("families").replaceChildren();
}

// The rows stay, so that what has the focus or is about to be clicked does not go away.
function showLines(report) {
  const rows = byId("lines");
  const lines = report?.lines ?? [];
  while (rows.children.length > lines.length) rows.lastChild.remove();
  lines.forEach((line, index) => {
    const key = line.moves.join();
    if (rows.children[index]?.dataset.key !== key) {
      const row = element("tr");
      row.dataset.key = key;
      const words = element("td", { className: "words" }, ...lineButtons(line, report.from));
      row.append(element("th", { scope: "row", textContent: line.steps[0].say.split(" ").pop() }), element("td"), element("td"), words);
      rows.children[index] ? rows.children[index].replaceWith(row) : rows.append(row);
    }
    rows.children[index].children[1].textContent = line.value;
    rows.children[index].children[2].textContent = percent(line.share);
  });
}

// A line as its moves, each of which shows the position after it.
function lineButtons(line, from) {
  return line.steps.map((step, index) => {
    const [number, san] = step.say.split(" ");
    const textContent = index === 0 || !number.endsWith("...") ? `${number} ${san}` : san;
    return element("button", { type: "button", className: "line-move", textContent, onclick: () => enter(line, from, index + 1) });
  });
}

function chip({ move, san, value, cost }) {
  const words = cost < 0.005 ? value : `${value}, \u2212${percent(cost)}`;
  return element("button", { type: "button", className: `chip ${costClass(cost)}`, textContent: `${san} ${words}`, onclick: () => prove(move) });
}

function showFamilies(rows) {
  const most = Math.max(100, ...rows.map(([, cp]) => Math.abs(cp)));
  byId("families").replaceChildren(
    ...rows.map(([name, cp]) => {
      const share = element("span", { className: `share ${cp >= 0 ? "white" : "black"}` });
      const width = (50 * Math.abs(cp)) / most;
      share.style.width = `${width}%`;
      if (cp < 0) share.style.marginLeft = `${50 - width}%`;
      return element("tr", {}, element("th", { scope: "row", textContent: name }), element("td", { textContent: pawns(cp) }), element("td", { className: "words" }, share));
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
  byId("proof-title").textContent = `${from.position.number}${from.position.turn === "white" ? "." : "..."} ${san}${sign} ${value}, ${mark}`;
  // What has not changed is not spoken again.
  const spoken = byId("proof-text");
  if (spoken.textContent !== texts.join("")) spoken.replaceChildren(...texts.map((text) => element("p", { textContent: text })));
  byId("proof-lines").replaceChildren(
    ...lines.map((line) => element("button", { type: "button", textContent: line.title, onclick: () => enter(line, from) })),
  );
  byId("proof-play").hidden = retry !== null;
  byId("proof-play").onclick = () => (canPlay() ? commit(move) : tryMove(move).catch((error) => notify(error.message)));
  if (innerWidth < 900) byId("proof").scrollIntoView({ block: "nearest" });
}
