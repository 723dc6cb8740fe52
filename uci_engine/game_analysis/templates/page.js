// What moves the board of an analysed game or position. The positions come with the page: no rules are needed.
const data = JSON.parse(byId("data").textContent);
const all = (selector) => [...document.querySelectorAll(selector)];
const game = { positions: data.positions };
// A line leads back to the move that it is about. All of it has one value.
const lines = data.lines.map(({ from, title, share, steps }) => {
  const positions = [{ ...game.positions[from], say: "before the line" }, ...steps];
  return { title, share, positions, back: { track: game, at: from + 1 } };
});
// The mistakes that are explained, by the number of the position after them.
const errors = new Map(data.errors?.map(({ at, played, better }) => [at, [lines[played], lines[better]]]));
const viewer = new Viewer(game, show);
const { board } = viewer;
board.flipped = Boolean(data.flipped);
// The buttons of the moves of each line.
const lineMoves = lines.map(() => []);

// The moves of the first position of two lines, as arrows.
function drawArrows(on, [played, better]) {
  on.arrow("played", played.positions[1].last);
  on.arrow("better", better.positions[1].last);
}

function show() {
  const { track, at, here, isLine } = viewer;
  const error = isLine ? undefined : errors.get(at);
  board.draw(here, undefined, () => error && drawArrows(board, error));
  viewer.showPlace(here.say);
  lineMoves.forEach((buttons, number) => {
    buttons.forEach((button, index) => setCurrent(button, track === lines[number] && at === index + 1));
  });
  if (byId("moves")) showGame(isLine ? track.back.at : at, error);
}

function showGame(ply, error) {
  byId("legend").hidden = error === undefined;
  error?.forEach(({ title }, index) => (byId("legend").children[index].lastChild.data = title));
  for (const id of ["cursor", "time-cursor"]) byId(id)?.setAttribute("d", `M${ply} 0V100`);
  byId("slider").value = ply;
  byId("slider").setAttribute("aria-valuetext", game.positions[ply].say);
  const hadFocus = document.activeElement.classList.contains("move");
  for (const button of all(".move")) {
    const isHere = Number(button.dataset.to) === ply;
    // Tab reaches one move, and the arrows the others.
    button.tabIndex = Number(button.dataset.to) === (ply || 1) ? 0 : -1;
    setCurrent(button, isHere);
    if (isHere && hadFocus) button.focus({ preventScroll: true });
  }
  for (const each of all(".error")) each.classList.toggle("current", each.id === `error-${ply}`);
  keepInView(document.querySelector(".move[aria-current]"), byId(`error-${ply}`));
}

// The list shows the current move, and what is said of it. The page stays where it is.
function keepInView(move, error) {
  const list = byId("moves");
  const top = move?.offsetTop ?? 0;
  const bottom = error ? error.offsetTop + error.offsetHeight : top + (move?.offsetHeight ?? 0);
  const isInView = top >= list.scrollTop && bottom <= list.scrollTop + list.clientHeight;
  if (!isInView) list.scrollTop = top - list.clientHeight / 8;
}

// Where the board stands above everything else, it is brought into sight.
const bringBoardIntoSight = () => innerWidth < 900 && board.element.scrollIntoView({ block: "nearest" });

function showLine(number, step) {
  viewer.go(lines[number], step);
  bringBoardIntoSight();
}

function jump(ply) {
  if (ply !== undefined) viewer.jump(ply);
  bringBoardIntoSight();
}

function toError(direction) {
  const here = viewer.isLine ? viewer.track.back.at : viewer.at;
  const places = [...errors.keys()];
  jump(direction > 0 ? places.find((ply) => ply > here) : places.findLast((ply) => ply < here));
}

viewer.connect([
  ["error-before", "p", () => toError(-1)],
  ["error-after", "n", () => toError(1)],
]);
all(".move").forEach((button, index) => {
  button.dataset.to = index + 1;
  button.title = game.positions[index + 1].say;
  button.onclick = () => jump(index + 1);
});
for (const button of all("button[data-line]")) button.onclick = () => showLine(button.dataset.line, 1);
for (const text of all(".line-moves")) {
  const { line } = text.dataset;
  lineMoves[line] = lineButtons(lines[line].positions.slice(1), (step) => showLine(line, step));
  // Tab reaches the button before the line, and the arrows its moves.
  for (const button of lineMoves[line]) button.tabIndex = -1;
  text.replaceChildren(...lineMoves[line]);
}
byId("slider")?.addEventListener("input", (event) => viewer.jump(Number(event.target.value)));

// The graphs: a click or a drag jumps.
for (const graph of all(".graph")) {
  const follow = (event) => {
    const box = graph.getBoundingClientRect();
    viewer.jump(Math.round(((event.clientX - box.left) / box.width) * (game.positions.length - 1)));
  };
  graph.onclick = follow;
  graph.onpointermove = (event) => event.buttons & 1 && follow(event);
}

// Each mistake has a small board, seen from the side that moved.
for (const [at, error] of errors) {
  const diagram = new Board(document.querySelector(`#error-${at} .diagram`));
  diagram.flipped = moveOf(error[0].positions[1]).isBlack;
  diagram.draw(error[0].positions[0], undefined, () => drawArrows(diagram, error));
  diagram.element.setAttribute("aria-label", `Position before it. ${error[0].title}. ${error[1].title}.`);
}
show();
