// One's own mistakes as exercises: those of all games that are analysed.

// Who plays against the engine, on the page and in its file.
const PLAYERS = ["You", "Player"];

/**
 * The side that the player has in a game: in one against the engine, or by the name.
 * @type {(names: Record<Side, string>, name: string) => Side | undefined}
 */
function ownSide(names, name) {
  const isNamed = (side) => name !== "" && names[side].toLowerCase().includes(name.toLowerCase());
  return SIDES.find((side) => PLAYERS.includes(names[side])) ?? SIDES.find(isNamed);
}

/**
 * The same mistake in the same position is there once.
 * @type {(report: Record<string, Facts>, name: string) => any[]}
 */
function exercisesOf(report, name) {
  const found = Object.entries(report).flatMap(([key, game]) => {
    const own = mistakesOf(game).filter(({ side }) => side === ownSide(game.names, name));
    return own.map((each) => ({ ...game, ...each, key, isSolved: game.solved?.includes(each.index) ?? false }));
  });
  return [...new Map(found.map((each) => [`${each.start} ${each.moves.slice(0, each.index + 1)}`, each])).values()];
}

let exercises = [];

// The next one behind that which is being solved, or else from the first.
function nextExercise() {
  const isTried = ({ key, index }) => key === retry?.key && index === retry?.index;
  const behind = exercises.findIndex(isTried) + 1;
  const inTurn = [...exercises.slice(behind), ...exercises.slice(0, behind)];
  return inTurn.find((each) => !each.isSolved && !isTried(each));
}

function showExercises() {
  exercises = exercisesOf(report, ownName());
  const count = exercises.filter(({ isSolved }) => isSolved).length;
  const sentence = `${count} of ${exercises.length} are solved.`;
  byId("exercises-count").textContent = exercises.length
    ? sentence
    : "“Find the mistakes” collects those of your games, to be solved here.";
  byId("solve").disabled = !nextExercise();
  const items = exercises.slice(0, MAX_LISTED).map((each) => {
    const words = `${each.isSolved ? "✓ " : ""}Better than ${each.name}: ${titleOf(each)}`;
    return listItem(words, () => solve(each));
  });
  byId("exercises").replaceChildren(...items);
}

async function solve(exercise) {
  const { key, index, name } = exercise;
  if (!(await begin(gameOf(exercise, index + 1)))) return;
  mistakes = [{ key, index, move: name, player: nameOf(game.positions[index].turn) }];
  tryAgain(mistakes[0]);
}

// After a mistake of the game comes its next one, after an exercise the next exercise.
function tryNext() {
  const next = retry.key ? nextExercise() : mistakes[mistakes.indexOf(retry) + 1];
  if (next) return retry.key ? solve(next) : tryAgain(next);
}

byId("me").value = lasting["secateur-name"] ?? "";
byId("me").onchange = () => {
  lasting["secateur-name"] = ownName();
  showReport();
};
