// One's own mistakes as exercises, which are kept beside the games.
let exercises = [];

// Add what was `found`, note what is `solved`, and show all.
async function tellExercises(fields = {}) {
  const answer = await ask("exercises", fields);
  exercises = Object.entries(answer.exercises).map(([key, each]) => ({ key, ...each }));
  showExercises();
}

/**
 * The side that the player has in a game: in one against the engine, or by the name.
 * @type {(game: Game, name: string) => Side | null}
 */
function ownSide({ color, names }, name) {
  /** @param {Side} side */
  const isMine = (side) => name !== "" && names[side].toLowerCase().includes(name.toLowerCase());
  return color ?? SIDES.find(isMine) ?? null;
}

/**
 * Keep the player's mistakes, but no inaccuracies.
 * @param {Mistake[]} errors
 */
async function collectExercises(errors) {
  const side = ownSide(game, byId("me").value.trim());
  const own = errors.filter(({ player, mark }) => player.toLowerCase() === side && mark !== "inaccuracy");
  const { start, title } = game;
  const found = own.map(({ index }) => ({ start, title, moves: game.moves.slice(0, index + 1) }));
  if (found.length) await tellExercises({ found });
}

// The next one behind that which is being solved, or else from the first.
function nextExercise() {
  const behind = exercises.findIndex(({ key }) => key === retry?.key) + 1;
  const inTurn = [...exercises.slice(behind), ...exercises.slice(0, behind)];
  return inTurn.find(({ solved, key }) => !solved && key !== retry?.key);
}

function showExercises() {
  const count = exercises.filter(({ solved }) => solved).length;
  const sentence = `${count} of ${exercises.length} are solved.`;
  byId("exercises-count").textContent = exercises.length
    ? sentence
    : "“Find the mistakes” collects those of your games, to be solved here.";
  byId("solve").disabled = !nextExercise();
  const items = exercises.slice(0, MAX_LISTED).map((each) => {
    const words = `${each.solved ? "✓ " : ""}Better than ${each.name}: ${each.title}`;
    return element("li", {}, button(words, () => solve(each)));
  });
  byId("exercises").replaceChildren(...items);
}

async function solve({ key, start, moves, title, name }) {
  if (!(await begin(newGame({ start, moves, title })))) return;
  const index = moves.length - 1;
  mistakes = [{ key, index, move: name, player: nameOf(game.positions[index].turn) }];
  tryAgain(mistakes[0]);
}

// After a mistake of the game comes its next one, after an exercise the next exercise.
function tryNext() {
  const next = retry.key ? nextExercise() : mistakes[mistakes.indexOf(retry) + 1];
  if (next) return retry.key ? solve(next) : tryAgain(next);
}

byId("me").value = lasting["secateur-name"] ?? "";
byId("me").onchange = () => (lasting["secateur-name"] = byId("me").value.trim());
