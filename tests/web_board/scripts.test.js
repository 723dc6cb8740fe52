// What of the scripts needs no page: the tree of variations, clocks, moves that are typed, exercises and the report.
const { test } = require("node:test");
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const { createContext, runInContext } = require("node:vm");

// Stands for every element of the page.
const values = { [Symbol.iterator]: () => [].values(), textContent: '{"start": ""}' };
const element = new Proxy(() => element, { get: (_, name) => values[name] ?? element, set: () => true });
const document = { getElementById: element };
const page = createContext({ document, crypto, performance, window: {}, location: {}, addEventListener() {} });
page.show = () => {};
for (const script of process.argv.slice(2)) runInContext(readFileSync(script, "utf-8"), page);
const run = (code) => JSON.parse(runInContext(`JSON.stringify((${code}) ?? null)`, page));

test("variations grow and go on, and come as PGN has them", () => {
  run("tree = [{ply: 0}, {ply: 1, last: 'e2e4'}, {ply: 2, last: 'e7e5'}, {ply: 1, last: 'd2d4'}]");
  run("game.positions = [planted(tree)], 0");
  const lasts = "nodes().map(({ply, move}) => `${ply}${move ?? ''}`).join(' ')";
  assert.equal(run(lasts), "0 1e2e4 2e7e5 1d2d4");
  run("game.positions.push(game.positions[0].next[0]), game.moves = ['e2e4']");
  for (const _ of [1, 2]) run("grow(game.positions[1], {ply: 2, last: 'c7c5'}), 0");
  assert.deepEqual(run("goOnWith(game.positions[1].next[1]).moves"), ["e2e4", "c7c5"]);
  assert.equal(run(lasts), "0 1e2e4 2c7c5 2e7e5 1d2d4");
});

test("a clock shows what it showed after the last move of its side", () => {
  run("clocked = [{turn: 'white'}, {turn: 'black', clock: 59}, {turn: 'white', clock: 58}, {turn: 'black'}]");
  assert.deepEqual(run("[...SIDES.map((side) => clockAfter(clocked, side)), clockAfter([], 'white')]"), [59, 58, null]);
});

test("a typed move is found by its name, if one move alone has it, or else why it is none is told", () => {
  const legal = { g1f3: "Nf3", e1g1: "O-O", a7b8q: "axb8=Q+", b1d2: "Nbd2", f3d2: "Nfd2" };
  run(`viewer.track = {positions: [{legal: ${JSON.stringify(legal)}}]}`);
  const found = run("['nf3', 'Nf3', 'G1F3', '0-0', 'ab8Q', 'Nd2', 'b1d2'].flatMap((text) => meant(text))");
  assert.deepEqual(found, ["g1f3", "g1f3", "e1g1", "a7b8q", "b1d2"]);
  const why = { Nd2: "Nbd2 or Nfd2", Nbf3: "may be Nf3", "Qxh7+": "no queen can go to h7 here", e2e4: "no legal move" };
  for (const [text, words] of Object.entries(why)) assert.ok(run(`refusal("${text}")`).includes(words), text);
});

test("a mistake is counted in each game, by its kinds, and solved once", () => {
  const black = { index: 1, side: "black", phase: "opening", clock: "no clock", lost: 0.5, cause: "reply" };
  const judged = [black, { ...black, side: "white" }];
  const game = { names: { white: "Ann", black: "Bob" }, start: "", moves: ["e4", "f6"], judged };
  const other = { ...game, moves: ["d4", "f6"], solved: [1] };
  run(`games = Object.entries(${JSON.stringify({ a: game, b: game, c: other })})`);
  assert.deepEqual(run("['zed', 'bob', ''].map((name) => factsOf(games, name).length)"), [0, 3, 6]);
  const lines = "reportLines(factsOf(games, 'bob')).map(({moves, lost, mistakes}) => [moves, lost, mistakes.length])";
  assert.deepEqual(run(lines), Array(4).fill([3, 1.5, 3]));
  run("exercises = exercisesOf(factsOf(games, 'bob'))");
  assert.deepEqual(run("exercises.map(({key, isSolved}) => key + !isSolved)"), ["btrue", "cfalse"]);
  assert.equal(run("nextExercise().key"), "b");
});
