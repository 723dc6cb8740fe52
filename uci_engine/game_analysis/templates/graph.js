// The graph of a game: what White expects after each move, as far as that is known, and the mistakes.
const graph = byId("graph");

function showGraph() {
  byId("cursor").setAttribute("d", `M${viewer.ply} 0V100`);
  graph.ariaValueNow = viewer.ply;
  graph.ariaValueText = game.positions[viewer.ply].say;
}

function drawGraph({ positions } = game) {
  const known = positions.map(({ share }, ply) => [ply, share]).filter(([, share]) => share !== undefined);
  // From the left and the top.
  const points = known.map(([ply, share]) => [ply, Math.round(1000 - 1000 * share) / 10]);
  const isKnown = points.length > 1;
  const area = points.map(([x, y]) => `L${x} ${y}`).join("");
  graph.setAttribute("viewBox", `0 0 ${Math.max(1, positions.length - 1)} 100`);
  byId("graph-white").setAttribute("d", isKnown ? `M${points[0][0]} 100${area}L${points.at(-1)[0]} 100z` : "");
  for (const kind of ["inaccuracy", "mistake", "blunder"]) {
    const dots = points.filter(([ply]) => positions[ply].error?.mark === kind);
    byId(`dots-${kind}`).setAttribute("d", dots.map(([x, y]) => `M${x} ${y}h0`).join(""));
  }
  graph.parentElement.classList.toggle("empty", !isKnown);
  graph.ariaValueMax = positions.length - 1;
}

// The board shows the position that is pointed at, and goes there by a click, or as the pointer is drawn along.
function connectGraph(graph) {
  // The graph is as wide as the game has plies.
  const plyAt = ({ clientX }) => {
    const { left, width } = graph.getBoundingClientRect();
    const share = Math.min(Math.max((clientX - left) / width, 0), 1);
    return Math.round(share * graph.viewBox.baseVal.width);
  };
  graph.onclick = (event) => viewer.go(game, plyAt(event));
  graph.onpointermove = (event) => {
    if (event.buttons === 1 && event.pointerType === "mouse") viewer.go(game, plyAt(event));
    else lookAt(game.positions[plyAt(event)]);
  };
  graph.onpointerleave = () => lookAt(null);
}

connectGraph(graph);
