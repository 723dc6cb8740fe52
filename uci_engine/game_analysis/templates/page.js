// What moves the board of an analysed game. The positions come with the page: no rules are needed.
const data = JSON.parse(byId("data").textContent);
const all = (selector) => [...document.querySelectorAll(selector)];
const game = { positions: data.positions };
// A line leads back to the move that it is about. All of it has one value.
const lines = data.lines.map(({ from, title, share, steps }) => {
  const positions = [{ ...game.positions[from], say: "before the line" }, ...steps];
  return { title, positions: positions.map((each) => ({ ...each, share })), back: { track: game, at: from + 1 } };
});
// The mistakes that are explained, by the number of the position after them.
const errors = new Map(data.errors.map((at, number) => [at, [lines[2 * number + 1], lines[2 * number]]]));
const viewer = new Viewer(game, show);
const { board } = viewer;
// The mistake that is tried again, by the number of the position after it; null for none.
let retry = null;
const isTrying = () => retry !== null && !viewer.isLine;
const choices = () => (isTrying() ? data.legal[data.errors.indexOf(retry)] : {});
// Nothing is played before one's turn here.
const isWaiting = () => false;

// The moves of the first position of two lines, as arrows.
function drawArrows(on, [played, better]) {
  on.arrow("played", played.positions[1].last);
  on.arrow("better", better.positions[1].last);
}

const errorHere = () => (viewer.isLine || isTrying() ? undefined : errors.get(viewer.at));

function drawBoard() {
  board.draw(viewer.here, drawTargets);
  if (errorHere()) drawArrows(board, errorHere());
}

// The board shows another position for a moment, null for none.
const lookAt = (position) => (position ? board.draw(position, undefined, true) : drawBoard());

function show() {
  const { track, at, here, ply } = viewer;
  selected = null;
  showRetry();
  const error = errorHere();
  drawBoard();
  viewer.showPlace(here.say);
  viewer.showShare();
  const hadFocus = document.activeElement.classList.contains("move");
  showCurrent(byId("moves"), all(".move")[ply - 1], hadFocus, byId(`error-${ply}`));
  for (const line of lines) {
    line.buttons.forEach((button, index) => (button.ariaCurrent = (track === line && at === index + 1) || null));
  }
  byId("legend").hidden = error === undefined;
  error?.forEach(({ title }, index) => (byId("legend").children[index].lastChild.data = title));
  showGraph();
  byId("time-cursor")?.setAttribute("d", `M${ply} 0V100`);
  for (const each of all(".error")) each.classList.toggle("current", each.id === `error-${ply}`);
}

// Where the board stands above everything else, it is brought into sight. Without a mistake to go to, nothing moves.
function go(track, at) {
  if (at === undefined) return;
  viewer.go(track, at);
  if (innerWidth < 900) board.element.scrollIntoView({ block: "nearest" });
}

// A mistake is tried again as long as the board shows the position before it, or the better line.
function showRetry() {
  const { track, at } = viewer;
  if (isTrying() ? at !== retry - 1 : track !== errors.get(retry)?.[1]) retry = null;
  byId("retry").hidden = retry === null;
  byId("type").hidden = byId("retry-answer").hidden = !isTrying();
  byId("retry-next").disabled = retry === data.errors.at(-1);
  byId("moves").classList.toggle("asked", isTrying());
  showChoices();
}

function tryAgain(at = data.errors[0]) {
  // There may be no mistake.
  if (at === undefined) return;
  retry = at;
  const [played] = errors.get(at);
  board.flipped = played.positions[1].say.includes("...");
  byId("retry-text").textContent = `${played.positions[1].say} was played here. Find a better move.`;
  go(game, at - 1);
}

// Right is the better move of this page: it has no engine that could judge others.
function act(move) {
  const [played, better] = errors.get(retry);
  const name = choices()[move];
  const isBetter = move === better.positions[1].last;
  const isPlayed = move === played.positions[1].last;
  const verdict = isPlayed ? "was played, and is the mistake" : "is not the move of the analysis";
  byId("retry-text").textContent = `${name} ${isBetter ? "is right." : `${verdict}. Try again.`}`;
  if (isBetter) go(better, 1);
  else viewer.show();
}

connectHands();
viewer.connect([
  ["retry-start", "r", () => tryAgain(data.errors.find((at) => at >= viewer.ply))],
  ["retry-answer", "", () => go(errors.get(retry)[1], 1)],
  ["retry-next", "", () => tryAgain(data.errors.find((at) => at > retry))],
  ["error-before", "p", () => go(game, data.errors.findLast((ply) => ply < viewer.ply))],
  ["error-after", "n", () => go(game, data.errors.find((ply) => ply > viewer.ply))],
]);
all(".move").forEach((button, index) => {
  button.dataset.to = index + 1;
  button.tabIndex = -1;
  button.onclick = () => go(game, index + 1);
});
for (const button of all("button[data-line]")) button.onclick = () => go(lines[button.dataset.line], 1);
for (const text of all(".line-moves")) {
  const line = lines[text.dataset.line];
  line.buttons = lineButtons(line.positions.slice(1), (step) => go(line, step));
  // Tab reaches the button before the line, and the arrows its moves.
  for (const button of line.buttons) button.tabIndex = -1;
  text.replaceChildren(...line.buttons);
}
drawGraph();
if (byId("times")) connectGraph(byId("times"));

// Each mistake has a small board, seen from the side that moved.
for (const [at, error] of errors) {
  const diagram = new Board(document.querySelector(`#error-${at} .diagram`));
  diagram.flipped = error[0].positions[1].say.includes("...");
  diagram.draw(error[0].positions[0]);
  drawArrows(diagram, error);
  diagram.element.setAttribute("aria-label", `Position before it. ${error[0].title}. ${error[1].title}.`);
}
show();
