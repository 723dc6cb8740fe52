// What the analysis of games has found, as far as they are analysed: the report over those of the folder.

/**
 * What is known of a game: see `report.py`. A mistake has a cause and a name.
 * @typedef {{index: number, side: Side, phase: string, clock: string, lost: number, cause?: string, name?: string}} Fact
 * @typedef {{names: Record<Side, string>, opening: string, start: string, moves: string[], judged: Fact[],
 *   solved?: number[]}} Facts
 */
/** @type {Record<string, Facts>} by the keys of the games */
let report = {};
const KINDS = ["opening", "phase", "side", "clock", "cause"];
const MAX_LINES = 12;
// Whether the games that are left are being analysed.
let isReading = false;

/** @type {(game: Facts) => Fact[]} */
const mistakesOf = ({ judged }) => judged.filter(({ cause }) => cause);
/** @type {(game: Facts) => string} */
const titleOf = ({ names }) => `${names.white} – ${names.black}`;
/** @type {(game: Facts, count?: number) => Game} */
function gameOf(game, count) {
  const { names, start, moves } = game;
  return newGame({ names, start, moves: moves.slice(0, count), title: titleOf(game) });
}
const ownName = () => byId("me").value.trim();
// What was refused is a game of a variant, for example.
const isLeft = ({ key, isRefused }) => !report[key] && !isRefused;

/**
 * For each kind and name the moves, what they lost, and the mistakes, of a player or, without a name, of all.
 * @type {(games: Facts[], name: string) => any[]}
 */
function reportLines(games, name) {
  const lines = {};
  for (const game of games) {
    const side = ownSide(game.names, name);
    for (const fact of game.judged.filter((each) => (side ? each.side === side : name === ""))) {
      const words = { ...fact, opening: game.opening };
      for (const kind of KINDS.filter((each) => words[each])) {
        const line = (lines[`${kind} ${words[kind]}`] ??= { kind, name: words[kind], moves: 0, lost: 0, mistakes: [] });
        line.moves += 1;
        line.lost += fact.lost;
        if (fact.cause) line.mistakes.push({ ...game, ...fact });
      }
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
  showExercises();
  const done = library.map(({ key }) => report[key]).filter(Boolean);
  const left = library.filter(isLeft).length;
  byId("report-text").textContent = done.length
    ? `Mistakes and blunders of ${ownName() || "all players"}, in ${done.length} games of ${library.length}.`
    : "No game of this folder has been analysed.";
  byId("analyse-rest").hidden = !left;
  byId("report-progress").hidden = !isReading;
  byId("analyse-rest").textContent = `Analyse ${done.length ? "the other " : ""}${left}`;
  const lines = reportLines(done, ownName());
  const parts = KINDS.map((kind) => lines.filter((line) => line.kind === kind).slice(0, MAX_LINES));
  const shown = parts.flatMap((found) => {
    return found.length ? [element("h3", { textContent: `By ${found[0].kind}` }), ...found.map(reportLine)] : [];
  });
  byId("report").replaceChildren(...shown);
}

// A line opens to its mistakes, each of which leads to its explanation.
function reportLine({ kind, name, moves, lost, mistakes }) {
  const rate = ` in ${moves} moves, \u2212${((100 * lost) / moves).toFixed(1)} % a move`;
  const words = `${nameOf(name)}: ${mistakes.length}${kind === "cause" ? "" : rate}`;
  const items = mistakes.slice(0, MAX_LISTED).map((each) => {
    return listItem(`${each.name} in ${titleOf(each)}`, async () => (await begin(gameOf(each))) && showAnswer(each));
  });
  const list = element("ul", { className: "listed" }, ...items);
  return element("details", {}, element("summary", { textContent: words }), list);
}

// Analyse the games that are left, until the player stops it or asks the engine something else.
async function analyseRest() {
  if (isReading) return stop();
  isReading = true;
  byId("explain").checked = false;
  byId("analyse-rest").textContent = "Stop";
  byId("report-progress").hidden = false;
  const left = library.filter(isLeft);
  for (const [index, each] of left.entries()) {
    byId("report-text").textContent = `Game ${index + 1} of ${left.length}: ${each.words}`;
    try {
      const { file, number, key } = each;
      const { games } = await ask("open", { file, number });
      const tell = ({ done = 1 }) => (byId("report-progress").value = (index + done) / left.length);
      if (!(await question("review", { ...games[0], key }, tell))) break;
    } catch {
      each.isRefused = true;
    }
  }
  isReading = false;
  await tellReport();
}
