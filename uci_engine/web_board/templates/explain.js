// What the engine thinks of the position on the board, and of a move that the player asks about. It is kept with the
// position.
const COSTS = [0.02, 0.08, 0.15, 0.3];
// What is shown as 0 %.
const LEAST_COST = 0.005;
const costClass = (cost) => `cost-${COSTS.filter((least) => cost >= least).length}`;
const percent = (share) => `${Math.round(100 * share)} %`;
const pawns = (cp) => (cp > 0 ? "+" : cp < 0 ? "\u2212" : "") + (Math.abs(cp) / 100).toFixed(2);

// Each kind of answer, and what shows it.
const VIEWS = { lines: showLines, costs: showCosts, families: showFamilies, proof: showProof };

function learn(position, answer) {
  Object.assign(position, answer);
  if (position !== here()) return;
  for (const [name, view] of Object.entries(VIEWS)) {
    if (name in answer) view(position);
  }
  drawBoard();
}

const wants = () => retry === null && (byId("explain").checked || byId("worth").checked);

// Have the engine do what is next: move, or explain the position on the board.
function goOn() {
  if (isThinking()) {
    if (asking?.name !== "reply") engineMoves();
    return;
  }
  const position = here();
  const isReviewing = asking?.name === "review" && !wants();
  if (isReviewing || asking?.position === position) return;
  stop();
  if (wants()) question("explain", path(), (answer) => learn(position, answer));
}

function button(textContent, onclick, className = "") {
  return element("button", { type: "button", textContent, onclick, className });
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

function showLines(position) {
  const { lines = [], depth, nodes, seconds, legal } = position;
  byId("effort").textContent = lines.length
    ? `Depth ${depth}, ${nodes.toLocaleString("en")} positions in ${seconds.toFixed(1)} s, ` +
      `${Object.keys(legal).length} alternatives.`
    : "";
  const rows = lines.map((line) => {
    const buttons = lineButtons(line.steps, (count) => enter(line, count));
    return row(legal[line.steps[0].move], [line.value, percent(line.share)], ...buttons);
  });
  replace("lines", position, rows);
}

function showCosts(position) {
  const chips = (position.costs ?? []).map(({ move, value, cost }) => {
    const loss = cost < LEAST_COST ? "" : `, \u2212${percent(cost)}`;
    return button(`${position.legal[move]} ${value}${loss}`, () => prove(move), `chip ${costClass(cost)}`);
  });
  replace("costs", position, chips);
}

function showFamilies({ families, sum }) {
  const shown = families ? [...families, ["Sum", sum]] : [];
  const most = Math.max(100, ...shown.map(([, cp]) => Math.abs(cp)));
  const rows = shown.map(([name, cp]) => {
    const share = element("span", { className: `share ${cp >= 0 ? "white" : "black"}` });
    const width = (50 * Math.abs(cp)) / most;
    share.style.width = `${width}%`;
    if (cp < 0) share.style.marginLeft = `${50 - width}%`;
    return row(name, [pawns(cp)], share);
  });
  byId("families").replaceChildren(...rows);
}

// A move explained: its value, what refutes or supports it, and why.
async function prove(move) {
  if (isThinking()) {
    say("Secateur is to move.");
    return;
  }
  const position = here();
  await question("prove", { ...path(), move }, (answer) => {
    learn(position, { proof: { ...answer, move } });
    if (innerWidth < 900) byId("proof").scrollIntoView({ block: "nearest" });
  });
  goOn();
}

function showProof({ proof }) {
  // Who tries again is not told what is better.
  byId("proof").hidden = !proof || (retry !== null && proof.is_error);
  if (!proof) return;
  byId("proof").className = `panel ${proof.is_error ? "bad" : "good"}`;
  byId("proof-title").textContent = `${proof.name} ${proof.value}, ${proof.mark}`;
  // What has not changed is not spoken again.
  const spoken = byId("proof-text");
  const paragraphs = proof.texts.map((textContent) => element("p", { textContent }));
  if (spoken.textContent !== proof.texts.join("")) spoken.replaceChildren(...paragraphs);
  byId("proof-lines").replaceChildren(...proof.lines.map((line) => button(line.title, () => enter(line))));
  byId("proof-play").hidden = retry !== null;
  byId("proof-play").onclick = () => play(proof.move);
}
