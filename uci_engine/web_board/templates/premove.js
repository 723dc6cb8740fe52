// What hands do with the board of a game: moves, also before it is one's turn, and questions.

// What the player has moved already while the engine thinks: the squares of the move, and the position that it answers.
let premove = null;

const isWaiting = () => isThinking() && here() === latest();
// The moves that hands can make, with their names: legal ones, or those that may be legal after the engine's.
const choices = () => (isWaiting() ? (here().premoves ?? {}) : here().legal);
const waitingMove = () => (premove?.position === here() ? premove.move : null);

// The squares under the pieces: where the piece that is taken may go, or else the pieces that have a good move.
function drawBelow() {
  for (const square of waitingMove()?.match(/../g) ?? []) board.fill("premove", square);
  const costs = isAnalysing() && !isWaiting() ? costsOf(here()) : [];
  drawTargets(new Map(costs.map(({ move, cost }) => [move, costClass(cost)])));
  if (selected !== null) return;
  // The best move of a piece, which comes first, counts.
  const best = new Map(costs.toReversed().map(({ move, cost }) => [move.slice(0, 2), cost]));
  for (const [square, cost] of best) if (cost < COSTS[1]) board.fill(costClass(cost), square);
}

// What a move on the board means: one for later, a question, or a move of the game or of a line.
function act(move) {
  if (isWaiting()) {
    premove = { move, position: here() };
    return show();
  }
  premove = null;
  if (byId("explain").checked || isTrying()) explain(move);
  else play(move);
}

function dropPremove() {
  if (premove === null) return;
  premove = null;
  show();
}

// Before the board knows of the pointer.
board.element.addEventListener("pointerdown", dropPremove);

// Make the move that the player has made before the engine's, if it is legal now.
function makePremove(answered) {
  const { move = "", position = null } = premove ?? {};
  premove = null;
  // The first way to promote is the queen.
  const [legal] = targets(move.slice(0, 2)).filter((each) => move && each.startsWith(move));
  if (position === answered && canPlay() && legal) commit(legal);
}
