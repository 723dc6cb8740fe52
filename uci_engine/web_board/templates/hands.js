// The board under the player's hands: pieces are taken, dragged and put down, also before it is one's turn.
let selected = null;
// Where a piece was taken by the pointer: the square, whether it was selected before, and the place in the window.
let drag = null;
// What the player has moved already while the engine thinks: the squares of the move, and the position that it answers.
let premove = null;

const isWaiting = () => isThinking() && here() === latest();
// The moves that hands can make, with their names: legal ones, or those that may be legal after the engine's.
const choices = () => (isWaiting() ? (here().premoves ?? {}) : here().legal);
const targets = (square) => Object.keys(choices()).filter((move) => move.startsWith(square));
const waitingMove = () => (premove?.position === here() ? premove.move : null);

// The squares under the pieces: where the piece that is taken may go, or else the pieces that have a good move.
function drawBelow() {
  for (const square of waitingMove()?.match(/../g) ?? []) board.fill("premove", square);
  const costs = isExplaining() && !isWaiting() ? (here().costs ?? []) : [];
  if (selected === null) {
    // The best move of a piece, which comes first, counts.
    const best = new Map(costs.toReversed().map(({ move, cost }) => [move.slice(0, 2), cost]));
    for (const [square, cost] of best) if (cost < COSTS[1]) board.fill(costClass(cost), square);
    return;
  }
  board.fill("selected", selected);
  for (const move of targets(selected)) {
    const known = costs.find((each) => each.move === move);
    board.fill(known ? costClass(known.cost) : "target", move.slice(2, 4));
  }
}

// Take or put down the piece of a square.
function touch(square) {
  dropPremove();
  const moves = selected === null ? [] : targets(selected).filter((move) => move.slice(2, 4) === square);
  selected = selected === square || moves.length || !targets(square).length ? null : square;
  if (moves.length > 1) promote(moves[0].slice(0, 4));
  else if (moves.length) act(moves[0]);
  else drawBoard();
}

// What a move on the board means: one for later, a question, or a move of the game or of a line.
function act(move) {
  if (isWaiting()) {
    premove = { move, position: here() };
    show();
  } else if (byId("prove").checked || retry !== null) prove(move);
  else play(move);
}

function dropPremove() {
  if (premove === null) return;
  premove = null;
  show();
}

// Make the move that the player has made before the engine's, if it is legal now.
function makePremove(answered) {
  const { move = "", position = null } = premove ?? {};
  premove = null;
  // The first way to promote is the queen.
  const [legal] = targets(move.slice(0, 2)).filter((each) => move && each.startsWith(move));
  if (position === answered && canPlay() && legal) commit(legal);
}

// The player chooses a piece, or none: the four stand over the board where the pawn arrives.
function promote(squares) {
  const dialog = byId("promotion");
  const { left, top, width } = board.element.getBoundingClientRect();
  const size = width / 8;
  const { x, y } = board.place(squares.slice(2));
  // Towards the middle of the board.
  dialog.style.left = `${left + (x / 45) * size}px`;
  dialog.style.top = `${top + (y ? 4 * size : 0)}px`;
  dialog.style.width = `${size}px`;
  for (const each of dialog.querySelectorAll("use")) {
    each.setAttribute("href", `#${here().turn}-${each.closest("button").title.toLowerCase()}`);
  }
  dialog.firstElementChild.classList.toggle("upwards", y > 0);
  dialog.returnValue = "";
  dialog.onclose = () => (dialog.returnValue ? act(squares + dialog.returnValue) : drawBoard());
  // A click beside it takes the move back, and a letter chooses.
  dialog.onclick = ({ target }) => {
    if (target === dialog) dialog.close();
  };
  dialog.onkeydown = ({ key }) => dialog.querySelector(`button[value="${CSS.escape(key)}"]`)?.click();
  dialog.showModal();
}

// The square under a pointer, null beside the board.
function squareAt({ clientX, clientY }) {
  const { left, top, width } = board.element.getBoundingClientRect();
  const [x, y] = [clientX - left, clientY - top].map((length) => Math.floor((8 * length) / width));
  if (x < 0 || x > 7 || y < 0 || y > 7) return null;
  return board.flipped ? "hgfedcba"[x] + (y + 1) : "abcdefgh"[x] + (8 - y);
}

board.element.onpointerdown = (event) => {
  const square = squareAt(event);
  if (event.button || square === null) return;
  // The focus stays with what opens, and a click on the board takes it from a field.
  event.preventDefault();
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  drag = { square, again: selected === square, x: event.clientX, y: event.clientY };
  if (!drag.again) touch(square);
  board.element.setPointerCapture(event.pointerId);
};
// The piece is under the pointer.
board.element.onpointermove = (event) => {
  const piece = board.element.querySelector(`[data-square="${drag?.square}"]`);
  if (!piece || selected !== drag.square || !event.buttons) return;
  const scale = 360 / board.element.getBoundingClientRect().width;
  board.element.append(piece);
  piece.setAttribute("transform", `translate(${scale * (event.clientX - drag.x)} ${scale * (event.clientY - drag.y)})`);
};
board.element.onpointerup = (event) => {
  if (drag === null) return;
  const { square, again } = drag;
  const to = squareAt(event);
  const isDropped = to !== square && targets(square).some((move) => move.startsWith(square + to));
  drag = null;
  if (isDropped && selected === square && !isWaiting()) board.putDown(square, to);
  if (to !== null && (again || to !== square)) touch(to);
  else drawBoard();
};
