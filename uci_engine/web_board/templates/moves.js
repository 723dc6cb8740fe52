// The list of moves: the game in two columns, with its variations, comments and mistakes.

function showMoves() {
  const list = byId("moves");
  const hadFocus = list.contains(document.activeElement);
  if (isStale) list.replaceChildren(...listOfMoves());
  isStale = false;
  // A line that is no part of the game is shown by where it begins.
  showCurrent(list, (here().next ? here() : game.positions[viewer.ply]).button, hadFocus);
}

// The game in two columns, with comments, mistakes and variations between its moves.
function listOfMoves() {
  const [first, ...rest] = game.positions;
  const parts = first.words ? [said(first.words)] : [];
  let isFirst = true;
  for (const position of rest) {
    const { ply, error, value = "", words, from } = position;
    const move = moveButton(position, `move ${ply % 2 ? "white" : "black"} ${error?.mark ?? ""}`);
    move.append(" ", element("small", { textContent: value }));
    if (isFirst || ply % 2) parts.push(element("b", { textContent: numberOf(position) }));
    const notes = words ? [said(words)] : [];
    if (error) notes.push(mistakeCard(error));
    notes.push(...from.next.filter((each) => each !== position).map((each) => said(...variation(each))));
    parts.push(move, ...notes);
    isFirst = notes.length > 0;
  }
  parts.push(...latest().next.map((each) => said(...variation(each))));
  return game.result === "*" ? parts : [...parts, said(game.result)];
}

const said = (...parts) => element("p", { className: "said" }, ...parts);
const numberOf = ({ ply }) => `${Math.ceil(ply / 2)}${ply % 2 ? "." : "..."}`;

// Its name has the sign of the review, or else the player's.
/** @type {(position: Position, className: string, number?: string) => HTMLButtonElement} */
function moveButton(position, className, number = "") {
  const { from, last, mark, sign = "" } = position;
  position.button = button(`${number}${from.legal[last]}${mark || sign}`, () => goTo(position), className);
  position.button.tabIndex = -1;
  return position.button;
}

// A variation as its moves in brackets, with what is said of them and the variations within.
function variation(first) {
  /** @type {(string | HTMLElement)[]} */
  const parts = ["( "];
  let isFirst = true;
  for (let each = first; each; each = each.next[0]) {
    const others = each === first ? [] : each.from.next.slice(1);
    const number = isFirst || each.ply % 2 ? numberOf(each) : "";
    if (each.lead) parts.push(`${each.lead} `);
    parts.push(moveButton(each, "line-move", number), " ");
    if (each.words) parts.push(`${each.words} `);
    parts.push(...others.flatMap(variation));
    isFirst = Boolean(each.words) || others.length > 0;
  }
  return [...parts, ") "];
}
