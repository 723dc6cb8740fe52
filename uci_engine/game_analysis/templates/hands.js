// The board under the player's hands: pieces are taken, dragged and put down, and moves are typed into a field.
// The page has the moves that hands can make in `choices()`, in UCI, with their names; `act` gets the one that is made.

/** @type {string | null} the square of the piece that is taken */
let selected = null;
// Where a piece was taken by the pointer: the square, whether it was selected before, and the place in the window.
let drag = null;

const targets = (square) => Object.keys(choices()).filter((move) => move.startsWith(square));

// The square of the piece that is taken, and those that it may go to. `classes`: of the squares, by the moves there.
function drawTargets(classes = new Map()) {
  if (selected === null) return;
  board.fill("selected", selected);
  for (const move of targets(selected)) board.fill(classes.get(move) ?? "target", move.slice(2, 4));
}

// Take or put down the piece of a square.
function touch(square) {
  const moves = selected === null ? [] : targets(selected).filter((move) => move.slice(2, 4) === square);
  selected = selected === square || moves.length || !targets(square).length ? null : square;
  if (moves.length > 1) promote(moves[0].slice(0, 4));
  else if (moves.length) act(moves[0]);
  else drawBoard();
}

// The player chooses a piece, or none: the four stand over the board where the pawn arrives.
function promote(squares) {
  const dialog = byId("promotion");
  const { left, top, width } = board.element.getBoundingClientRect();
  const size = width / 8;
  const { x, y } = board.place(squares.slice(2));
  const color = squares[3] === "8" ? "white" : "black";
  // Towards the middle of the board.
  dialog.style.left = `${left + (x / 45) * size}px`;
  dialog.style.top = `${top + (y ? 4 * size : 0)}px`;
  dialog.style.width = `${size}px`;
  for (const each of dialog.querySelectorAll("use")) {
    each.setAttribute("href", `#${color}-${each.closest("button").title.toLowerCase()}`);
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

function connectHands() {
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
    const [x, y] = [scale * (event.clientX - drag.x), scale * (event.clientY - drag.y)];
    piece.setAttribute("transform", `translate(${x} ${y})`);
  };
  board.element.onpointerup = (event) => {
    if (drag === null) return;
    const { square, again } = drag;
    const to = squareAt(event);
    const isDropped = to !== square && targets(square).some((move) => move.startsWith(square + to));
    drag = null;
    // A premove leaves the piece where it is.
    if (isDropped && selected === square && !isWaiting()) board.putDown(square, to);
    if (to !== null && (again || to !== square)) touch(to);
    else drawBoard();
  };
  byId("type").onsubmit = (event) => {
    event.preventDefault();
    const text = byId("move").value.trim();
    const moves = meant(text);
    byId("move").value = "";
    if (moves.length === 1) act(moves[0]);
    else byId("status").textContent = refusal(text.slice(0, 20));
  };
}

// The browser offers the moves that can be typed.
function showChoices() {
  byId("legal").replaceChildren(...Object.values(choices()).map((name) => new Option(name)));
}

// The moves that a text means, in UCI or as they are named: two knights may wish to go to the same square.
function meant(text) {
  const plain = (name) => name.replace(/[+#=x]/g, "").replace(/0/g, "O");
  const isMeant = ([uci, san]) => uci === text.toLowerCase() || plain(san) === plain(text);
  return Object.keys(choices()).filter((uci) => isMeant([uci, choices()[uci]]));
}

// Why a text is no move: which ones it may mean, or what cannot go there.
function refusal(text) {
  const parts = /^(?:([KQRBN])[a-h]?[1-8]?x?|[a-h]x)?([a-h][1-8])(?:=?[QRBN])?[+#]?$/.exec(text);
  if (!parts) return `${text} is no legal move here. Moves are typed as Nf3, exd5, O-O or g1f3.`;
  const [, piece = "P", to] = parts;
  const pieceOf = (san) => /^[KQRBN]/.exec(san)?.[0] ?? "P";
  const able = Object.entries(choices()).filter(([uci, san]) => uci.slice(2, 4) === to && pieceOf(san) === piece);
  const names = able.map(([uci, san]) => (isWaiting() ? uci : san));
  return names.length ? `${text} may be ${names.join(" or ")}.` : `${text}: no ${Board.NAMES[piece]} can go to ${to} here.`;
}
