"use strict";
// The board of every page: it draws positions, which come with their marks. It knows no rules.
class Board {
  static SVG = "http://www.w3.org/2000/svg";
  static NAMES = { P: "pawn", N: "knight", B: "bishop", R: "rook", Q: "queen", K: "king" };

  constructor(element) {
    this.element = element;
    this.flipped = false;
  }

  // The letters of the pieces by square.
  static read(placement) {
    const squares = {};
    placement.split("/").forEach((row, y) => {
      [...row.replace(/\d/g, (count) => " ".repeat(count))].forEach((letter, x) => {
        if (letter !== " ") squares["abcdefgh"[x] + (8 - y)] = letter;
      });
    });
    return squares;
  }

  static describe(squares) {
    const sides = { White: [], Black: [] };
    for (const [square, letter] of Object.entries(squares)) {
      const upper = letter.toUpperCase();
      sides[letter === upper ? "White" : "Black"].push(`${Board.NAMES[upper]} ${square}`);
    }
    return `Board. White: ${sides.White.sort().join(", ")}. Black: ${sides.Black.sort().join(", ")}.`;
  }

  // Where the board shows a square.
  place(square) {
    const [x, y] = [square.charCodeAt(0) - 97, 8 - Number(square[1])];
    return this.flipped ? { x: (7 - x) * 45, y: (7 - y) * 45 } : { x: x * 45, y: y * 45 };
  }

  add(tag, attributes, text = "") {
    const element = document.createElementNS(Board.SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    this.element.append(element);
    return element;
  }

  fill(name, square) {
    this.add("rect", { class: name, ...this.place(square), width: 45, height: 45 });
  }

  // `below` and `above` draw what lies under the pieces and over them.
  draw(position, below = () => {}, above = () => {}) {
    const squares = Board.read(position.fen);
    this.element.replaceChildren();
    this.add("use", { href: "#squares" });
    for (const square of (position.last || "").match(/../g) || []) this.fill("last-move", square);
    if (position.check) this.fill("check-square", position.check);
    below();
    for (const [square, letter] of Object.entries(squares)) {
      const name = (letter === letter.toUpperCase() ? "w" : "b") + letter.toUpperCase();
      this.add("use", { href: `#${name}`, ...this.place(square), "data-square": square });
    }
    for (let i = 0; i < 8; i++) {
      this.add("text", { class: "coordinate", x: i * 45 + 38, y: 357 }, "abcdefgh"[this.flipped ? 7 - i : i]);
      this.add("text", { class: "coordinate", x: 2, y: i * 45 + 10 }, this.flipped ? i + 1 : 8 - i);
    }
    above();
    this.element.setAttribute("aria-label", Board.describe(squares));
  }

  // White's share of the bar beside the board, from 0 to 1.
  showShare(rect, share) {
    rect.setAttribute("y", this.flipped ? 0 : 100 - 100 * share);
    rect.setAttribute("height", 100 * share);
  }
}
