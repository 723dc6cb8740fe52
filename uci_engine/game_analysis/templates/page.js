// What moves the board of an analysed game or position. The positions come with the page: no rules are needed.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];

  const board = new Board(byId("board"));

  // What is stepped through is the game or one of the lines. All of a line has one value.
  const game = { positions: data.positions };
  const lines = data.lines.map(({ from, title, share, steps }) => {
    return { from, title, share, positions: [{ ...game.positions[from], say: "before the line" }, ...steps] };
  });
  let track = game;
  let at = 0;
  board.flipped = Boolean(data.flipped);

  function setCurrent(element, isCurrent) {
    if (isCurrent) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }

  function show() {
    const position = track.positions[at];
    board.draw(position);
    byId("status").textContent = track === game ? position.say : `${track.title}: ${position.say}`;
    const share = track.share ?? position.share;
    if (share !== undefined) board.showShare(byId("bar-white"), share);
    byId("first").disabled = byId("previous").disabled = at === 0;
    byId("last").disabled = byId("next").disabled = at === track.positions.length - 1;
    byId("line-controls").hidden = track === game;
    byId("line-title").textContent = track.title ?? "";
    const ply = track.from ?? at;
    for (const id of ["cursor", "time-cursor"]) byId(id)?.setAttribute("d", `M${ply} 0V100`);
    const slider = byId("slider");
    if (slider) {
      slider.value = ply;
      slider.setAttribute("aria-valuetext", game.positions[ply].say);
    }
    for (const button of all(".move")) {
      const isHere = Number(button.dataset.to) === ply;
      button.tabIndex = isHere || (ply === 0 && button.dataset.to === "1") ? 0 : -1;
      setCurrent(button, isHere);
    }
    for (const error of all(".error")) error.classList.toggle("current", error.id === `error-${ply - 1}`);
    for (const row of all("tr[data-line]")) setCurrent(row, lines[row.dataset.line] === track);
  }

  // Where the board stands above everything else, it is brought into sight.
  const bringIntoSight = (element) => element?.scrollIntoView({ block: "nearest" });
  const bringIntoSightIfNarrow = (element) => innerWidth < 900 && bringIntoSight(element);

  function step(to) {
    at = Math.max(0, Math.min(to, track.positions.length - 1));
    show();
  }

  function jump(ply) {
    track = game;
    step(ply);
  }

  function enter(line) {
    track = line;
    step(1);
    bringIntoSightIfNarrow(board.element);
  }

  function leave() {
    if (track === game) return;
    const from = track.from;
    jump(from);
    bringIntoSightIfNarrow(byId(`error-${from}`));
  }

  function turn() {
    board.flipped = !board.flipped;
    show();
  }

  const errors = (data.errors || []).map((index) => index + 1);

  function toError(direction) {
    const here = track === game ? at : track.from + 1;
    const found = direction > 0 ? errors.find((ply) => ply > here) : errors.findLast((ply) => ply < here);
    if (found === undefined) return;
    jump(found);
    bringIntoSight(byId(`error-${found - 1}`));
  }

  // Each with its button and its key.
  const actions = [
    ["first", "Home", () => step(0)],
    ["previous", "ArrowLeft", () => step(at - 1)],
    ["next", "ArrowRight", () => step(at + 1)],
    ["last", "End", () => step(track.positions.length - 1)],
    ["flip", "f", turn],
    ["leave", "Escape", leave],
    ["error-before", "p", () => toError(-1)],
    ["error-after", "n", () => toError(1)],
  ];
  for (const [id, , action] of actions) byId(id)?.addEventListener("click", action);
  all(".move").forEach((button, index) => {
    button.dataset.to = index + 1;
    button.title = game.positions[index + 1].say;
  });
  for (const button of all("[data-to]")) {
    button.addEventListener("click", () => {
      jump(Number(button.dataset.to));
      bringIntoSightIfNarrow(board.element);
    });
  }
  for (const button of all("button[data-line]")) {
    button.addEventListener("click", () => enter(lines[button.dataset.line]));
  }
  byId("slider")?.addEventListener("input", (event) => jump(Number(event.target.value)));

  document.addEventListener("keydown", (event) => {
    const isOther = event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "INPUT";
    if (isOther && event.key !== "Escape") return;
    const found = actions.find(([, key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
    // The focus follows the move that is shown.
    if (event.target.classList?.contains("move")) document.querySelector(".move[tabindex='0']")?.focus();
  });

  // The graphs: a click or a drag jumps.
  for (const graph of all(".graph")) {
    const follow = (event) => {
      const box = graph.getBoundingClientRect();
      jump(Math.round(((event.clientX - box.left) / box.width) * (game.positions.length - 1)));
    };
    graph.addEventListener("click", follow);
    graph.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) follow(event);
    });
  }

  show();
})();
