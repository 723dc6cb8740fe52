// Mistakes as exercises: positions in which to find a better move.
let exercises = [];

// The player's own come first. The same mistake in the same position is there once.
function exercisesOf(facts) {
  const sorted = facts.toSorted((a, b) => Number(b.isOwn) - Number(a.isOwn));
  const placed = sorted.map((each) => [`${each.start} ${each.moves.slice(0, each.index + 1)}`, each]);
  return [...new Map(placed).values()].filter(({ cause }) => cause);
}

// The next one behind that which is being solved, or else from the first.
function nextExercise() {
  const isTried = ({ key, index }) => key === retry?.key && index === retry?.index;
  const behind = exercises.findIndex(isTried) + 1;
  const inTurn = [...exercises.slice(behind), ...exercises.slice(0, behind)];
  return inTurn.find((each) => !each.isSolved && !isTried(each));
}

async function solve(exercise) {
  const { key, index, name, side } = exercise;
  if (!(await begin(gameOf(exercise, index + 1)))) return;
  mistakes = [{ key, index, move: name, player: nameOf(side) }];
  tryAgain(mistakes[0]);
}

// After a mistake of the game comes its next one, after an exercise the next exercise.
function tryNext() {
  const next = retry.key ? nextExercise() : mistakes[mistakes.indexOf(retry) + 1];
  if (next) return retry.key ? solve(next) : tryAgain(next);
}
