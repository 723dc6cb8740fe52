"use strict";
// What every page has: a board, the place in a game or in a line, and the buttons and keys that move it.

/**
 * A position to be shown. `fen`: its pieces. `say`: what is said of it. `last`: the move that led there, in UCI. `check`:
 * the square of a king in check. `share`: what White expects, from 0 to 1. `value`: the same in pawns, as text.
 * @typedef {{fen: string, say: string, last?: string, check?: string, share?: number, value?: string}} Shown
 */
/** @typedef {{x: number, y: number}} Place */
/** @typedef {Record<string, string>} Squares the letters of the pieces by square */

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

// The board draws positions, which come with their marks. It knows no rules.
class Board {
  static NAMES = { P: "pawn", N: "knight", B: "bishop", R: "rook", Q: "queen", K: "king" };
  static SLIDE_MS = 180;

  /** @param {SVGSVGElement} element */
  constructor(element) {
    this.element = element;
    this.flipped = false;
    /** @type {Squares} what it shows */
    this.squares = {};
    /** @type {Map<string, {from: string, since: number}>} the pieces that slide, by square */
    this.slides = new Map();
    this.isPreview = false;
  }

  /** @type {(placement: string) => Squares} */
  static read(placement) {
    const letters = placement.replaceAll("/", "").replace(/\d/g, (count) => " ".repeat(Number(count)));
    const squares = [...letters].map((letter, i) => ["abcdefgh"[i % 8] + (8 - Math.floor(i / 8)), letter]);
    return Object.fromEntries(squares.filter(([, letter]) => letter !== " "));
  }

  // Where each piece that stands on a new square comes from: the nearest one that its like has left.
  /** @type {(before: Squares, after: Squares) => Map<string, string>} */
  static moved(before, after) {
    const left = Object.keys(before).filter((square) => after[square] !== before[square]);
    const distance = (a, b) => Math.hypot(a.charCodeAt(0) - b.charCodeAt(0), Number(a[1]) - Number(b[1]));
    const origins = new Map();
    for (const [square, letter] of Object.entries(after)) {
      if (before[square] === letter) continue;
      const likes = left.filter((each) => before[each] === letter);
      const [from] = likes.sort((a, b) => distance(a, square) - distance(b, square));
      if (from) origins.set(square, from);
    }
    return origins;
  }

  static describe(squares) {
    const sides = { White: [], Black: [] };
    for (const [square, letter] of Object.entries(squares)) {
      const upper = letter.toUpperCase();
      sides[letter === upper ? "White" : "Black"].push(`${Board.NAMES[upper]} ${square}`);
    }
    return `Board. White: ${sides.White.sort().join(", ")}. Black: ${sides.Black.sort().join(", ")}.`;
  }

  /** @type {(square: string) => Place} where the board shows a square */
  place(square) {
    const [x, y] = [square.charCodeAt(0) - 97, 8 - Number(square[1])];
    return this.flipped ? { x: (7 - x) * 45, y: (7 - y) * 45 } : { x: x * 45, y: y * 45 };
  }

  add(tag, attributes, text = "") {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    this.element.append(element);
    return element;
  }

  fill(name, square) {
    this.add("rect", { class: name, ...this.place(square), width: 45, height: 45 });
  }

  // An arrow of a kind, which may have more names, for a move in UCI's notation.
  arrow(name, move) {
    const [from, to] = move.match(/../g).slice(0, 2).map((square) => this.place(square));
    const d = `M${from.x + 22.5} ${from.y + 22.5}L${to.x + 22.5} ${to.y + 22.5}`;
    this.add("path", { class: `arrow ${name}`, "marker-end": `url(#head-${name.split(" ")[0]})`, d });
  }

  addPiece(square, letter) {
    const upper = letter.toUpperCase();
    const name = `${letter === upper ? "white" : "black"}-${Board.NAMES[upper]}`;
    const piece = this.add("use", { href: `#${name}`, ...this.place(square), "data-square": square });
    const slide = this.slides.get(square);
    if (!slide) return;
    const [from, to] = [this.place(slide.from), this.place(square)];
    const transform = [`translate(${from.x - to.x}px, ${from.y - to.y}px)`, "none"];
    const motion = piece.animate({ transform }, { duration: Board.SLIDE_MS, easing: "ease-out" });
    // It goes on where it was before the board was drawn again.
    motion.currentTime = performance.now() - slide.since;
  }

  // Let pieces slide to where they are now, unless that is over, or motion is not wanted.
  startSlides(squares) {
    const since = performance.now();
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const [square, slide] of this.slides) {
      if (since - slide.since > Board.SLIDE_MS || squares[square] !== this.squares[square]) this.slides.delete(square);
    }
    if (isStill) return;
    for (const [square, from] of Board.moved(this.squares, squares)) this.slides.set(square, { from, since });
  }

  // A piece has been put down by hand: it does not slide there.
  putDown(from, to) {
    this.squares = { ...this.squares, [to]: this.squares[from] };
    delete this.squares[from];
  }

  // `below` draws what lies under the pieces. What is only looked at for a moment has no slides.
  /** @param {Shown} shown */
  draw({ fen, last = "", check }, below = () => {}, isPreview = false) {
    const squares = Board.read(fen);
    if (isPreview || this.isPreview) this.slides.clear();
    else this.startSlides(squares);
    Object.assign(this, { squares, isPreview });
    this.element.replaceChildren();
    this.add("use", { href: "#squares" });
    for (const square of last.match(/../g) ?? []) this.fill("last-move", square);
    if (check) this.fill("check-square", check);
    below();
    // What slides passes over what stands.
    const pieces = Object.entries(squares).sort(([a], [b]) => Number(this.slides.has(a)) - Number(this.slides.has(b)));
    for (const [square, letter] of pieces) this.addPiece(square, letter);
    for (let i = 0; i < 8; i++) {
      this.add("text", { class: "coordinate", x: i * 45 + 38, y: 357 }, "abcdefgh"[this.flipped ? 7 - i : i]);
      this.add("text", { class: "coordinate", x: 2, y: i * 45 + 10 }, `${this.flipped ? i + 1 : 8 - i}`);
    }
    this.element.setAttribute("aria-label", Board.describe(squares));
  }
}

// The board, and the place in what it shows: a track, which is the game or a line, each with its positions. A line also
// has a title, and `back`, the place in the game that it leads back to.
class Viewer {
  // `show` is called after each change.
  constructor(game, show) {
    this.board = new Board(byId("board"));
    this.show = show;
    /** @type {any} the game or the line */
    this.track = game;
    this.at = 0;
    this.share = 0.5;
  }

  get here() {
    return this.track.positions[this.at];
  }

  get isLine() {
    return this.track.back !== undefined;
  }

  go(track, at) {
    this.track = track;
    this.at = Math.max(0, Math.min(at, track.positions.length - 1));
    this.show();
  }

  // The place in the game, also while a line is shown.
  get ply() {
    return this.isLine ? this.track.back.at : this.at;
  }

  turn() {
    this.board.flipped = !this.board.flipped;
    this.show();
  }

  // What is said, and the buttons.
  showPlace(said) {
    const { track, at, isLine } = this;
    const text = isLine ? `${track.title}: ${said}` : said;
    // What has not changed is not spoken again.
    if (byId("status").textContent !== text) byId("status").textContent = text;
    byId("first").disabled = byId("previous").disabled = at === 0;
    byId("last").disabled = byId("next").disabled = at === track.positions.length - 1;
    byId("leave").hidden = !isLine;
  }

  // The bar: what White expects, from 0 to 1. Where that is not known, it stays.
  showShare(share = this.here.share ?? this.share) {
    this.share = share;
    byId("bar-white").setAttribute("y", this.board.flipped ? 0 : 100 - 100 * share);
    byId("bar-white").setAttribute("height", 100 * share);
  }

  // Connect what every page does, and these actions, each with its button and its key, either of which may be "".
  connect(actions) {
    const all = [
      ["first", "Home", () => this.go(this.track, 0)],
      ["previous", "ArrowLeft", () => this.go(this.track, this.at - 1)],
      ["next", "ArrowRight", () => this.go(this.track, this.at + 1)],
      ["last", "End", () => this.go(this.track, this.track.positions.length - 1)],
      ["flip", "f", () => this.turn()],
      ["leave", "Escape", () => this.isLine && this.go(this.track.back.track, this.track.back.at)],
      ...actions,
    ];
    for (const [id, , action] of all) byId(id)?.addEventListener("click", action);
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      const isText = target instanceof Element && target.matches("textarea, select, input:not([type='checkbox'])") && event.key !== "Escape";
      if (event.ctrlKey || event.altKey || event.metaKey || isText || document.querySelector("dialog[open]")) return;
      const meant = all.filter(([, key]) => key === event.key);
      if (meant.length) event.preventDefault();
      for (const [, , action] of meant) action();
    });
  }
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function button(textContent, onclick, className = "") {
  return element("button", { type: "button", textContent, onclick, className });
}

// A line as its moves, each of which shows the position after it: `show` gets how many moves that is. What is said of a
// position is its move: `12.Nf3` or `12...Nf6`.
function lineButtons(steps, show) {
  return steps.map(({ say }, index) =>
    button(index ? say.replace(/^\d+\.\.\./, "") : say, () => show(index + 1), "line-move"),
  );
}

// Of a list of moves Tab reaches the current one, or else the first, and the arrows the others. It comes into view with
// what is said of it, and the page stays where it is.
function showCurrent(list, current, hadFocus, said) {
  for (const each of list.querySelectorAll("[aria-current], [tabindex='0']")) {
    each.ariaCurrent = null;
    each.tabIndex = -1;
  }
  const reached = current ?? list.querySelector("button");
  if (reached) reached.tabIndex = 0;
  if (current) current.ariaCurrent = "true";
  if (hadFocus) reached?.focus({ preventScroll: true });
  const top = current?.offsetTop ?? 0;
  const bottom = said ? said.offsetTop + said.offsetHeight : top + (current?.offsetHeight ?? 0);
  const isInView = top >= list.scrollTop && bottom <= list.scrollTop + list.clientHeight;
  if (!isInView) list.scrollTop = top - list.clientHeight / 8;
}
