// What the analysis of games has found: the report over those of the folder, as far as they are analysed.

/** @type {Record<string, any>} the facts of games by their keys: see `facts_of` of `report.py` */
let report = {};
const KINDS = ["opening", "phase", "side", "clock", "cause"];
const MAX_LINES = 12;
// Whether the games that are left are being analysed.
let isReading = false;

const ownName = () => byId("me").value.trim();
const titleOf = ({ names }) => `${names.white} – ${names.black}`;
// What was refused is a game of a variant, for example.
const isLeft = ({ key, isRefused }) => !report[key] && !isRefused;

// The game of a fact, up to so many moves.
function gameOf({ names, start, moves }, count = moves.length) {
  return newGame({ names, start, moves: moves.slice(0, count), title: titleOf({ names }) });
}

// The facts of the player's moves or, without a name, of all, each with its game.
function factsOf(games, name) {
  const isNamed = (each) => name !== "" && each.toLowerCase().includes(name.toLowerCase());
  return games.flatMap(([key, game]) => {
    const find = (isOwn) => SIDES.find((each) => isOwn(game.names[each]));
    // Who plays against the engine, on the page and in its file.
    const side = find((each) => ["You", "Player"].includes(each)) ?? find(isNamed);
    const own = game.judged.filter((each) => (side ? each.side === side : name === ""));
    return own.map((each) => ({ ...game, ...each, key, isOwn: Boolean(side), isSolved: game.solved?.includes(each.index) }));
  });
}

// For each kind and word of facts the moves, what they lost, and the mistakes; first where most mistakes are.
function reportLines(facts) {
  const lines = {};
  for (const fact of facts) {
    for (const kind of KINDS.filter((each) => fact[each])) {
      const line = (lines[`${kind} ${fact[kind]}`] ??= { kind, word: fact[kind], moves: 0, lost: 0, mistakes: [] });
      line.moves += 1;
      line.lost += fact.lost;
      if (fact.cause) line.mistakes.push(fact);
    }
  }
  return Object.values(lines).sort((a, b) => b.mistakes.length - a.mistakes.length);
}

// Ask for all, first perhaps note an exercise that is solved, and show it.
async function tellReport(fields = {}) {
  ({ report } = await ask("report", fields));
  showReport();
}

function showReport() {
  const listed = ofFolder();
  const keys = new Set(listed.map(({ key }) => key));
  const games = Object.entries(report).filter(([key]) => keys.has(key));
  const left = listed.filter(isLeft).length;
  exercises = exercisesOf(factsOf(Object.entries(report), ownName()));
  const solved = exercises.filter(({ isSolved }) => isSolved).length;
  const found = `Mistakes and blunders of ${ownName() || "all players"}: ${exercises.length}, of which ${solved} are solved. `;
  const analysed = `${games.length || "None"} of ${listed.length} games in the folder have been analysed.`;
  byId("report-text").textContent = `${exercises.length ? found : ""}${analysed}`;
  byId("solve").disabled = !nextExercise();
  byId("analyse-rest").hidden = !left;
  byId("analyse-rest").textContent = isReading ? "Stop" : `Analyse ${games.length ? "the other " : ""}${left}`;
  byId("report-progress").hidden = !isReading;
  const lines = reportLines(factsOf(games, ownName()));
  const shown = KINDS.flatMap((kind) => {
    const found = lines.filter((line) => line.kind === kind).slice(0, MAX_LINES);
    return found.length ? [element("h3", { textContent: `By ${kind === "side" ? "colour" : kind}` }), ...found.map(reportLine)] : [];
  });
  byId("report").replaceChildren(...shown);
}

// A line opens to its mistakes, each of which leads to its explanation.
function reportLine({ kind, word, moves, lost, mistakes }) {
  const rate = ` mistakes in ${moves} moves; a move costs ${((100 * lost) / moves).toFixed(1)} %`;
  const words = `${nameOf(word)}: ${mistakes.length}${kind === "cause" ? "" : rate}`;
  const items = mistakes.slice(0, MAX_LISTED).map((each) => {
    const title = `${each.isSolved ? "✓ " : ""}${each.name} in ${titleOf(each)}`;
    return listItem(title, async () => (await begin(gameOf(each))) && explainPlayed(each));
  });
  const list = element("ul", { className: "listed" }, ...items);
  return element("details", {}, element("summary", { textContent: words }), list);
}

// Analyse the games that are left, until the player stops it or asks the engine something else.
async function analyseRest() {
  if (isReading) return stop();
  if (isBusy()) return;
  isReading = true;
  byId("analysis").checked = false;
  showReport();
  const left = ofFolder().filter(isLeft);
  for (const [index, each] of left.entries()) {
    byId("report-text").textContent = `Game ${index + 1} of ${left.length}: ${each.words}`;
    try {
      const tell = ({ done = 1 }) => (byId("report-progress").value = (index + done) / left.length);
      if (!(await question("review", await ask("open", each), tell))) break;
    } catch {
      each.isRefused = true;
    }
  }
  isReading = false;
  await tellReport();
}

byId("me").value = lasting["secateur-name"] ?? "";
byId("me").onchange = () => {
  lasting["secateur-name"] = ownName();
  showReport();
};
