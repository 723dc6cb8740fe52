// What moves sound like: knocks, which are made here.

// For each kind of move its knocks: seconds from its beginning, hertz, and loudness.
const KNOCKS = {
  move: [[0, 420, 0.5]],
  capture: [[0, 300, 0.6], [0.04, 620, 0.4]],
  check: [[0, 420, 0.5], [0.09, 900, 0.4]],
  end: [[0, 420, 0.5], [0.14, 330, 0.5], [0.28, 250, 0.6]],
};
const KNOCK_SECONDS = 0.09;

/** @type {(before: Position, after: Position) => keyof typeof KNOCKS} the kind of the move between two positions */
function soundOf(before, after) {
  const count = ({ fen }) => Object.keys(Board.read(fen)).length;
  if (after.result) return "end";
  if (after.check) return "check";
  return count(after) < count(before) ? "capture" : "move";
}

const sound = {
  isOn: lasting["secateur-sound"] !== "off",
  context: null,

  // Browsers allow sound, and complain of it, by whether the player has touched the page. Some have none.
  play(kind) {
    if (!sound.isOn || !window.AudioContext || !navigator.userActivation?.hasBeenActive) return;
    sound.context ??= new AudioContext();
    for (const [wait, pitch, loudness] of KNOCKS[kind]) knock(sound.context, wait, pitch, loudness);
  },

  turn() {
    sound.isOn = !sound.isOn;
    lasting["secateur-sound"] = sound.isOn ? "on" : "off";
    byId("sound").ariaPressed = sound.isOn;
    sound.play("move");
  },
};
byId("sound").ariaPressed = sound.isOn;

// Noise that dies away, through a filter that rings.
function knock(context, wait, frequency, gain) {
  const length = Math.round(context.sampleRate * KNOCK_SECONDS);
  const buffer = context.createBuffer(1, length, context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i++) samples[i] = (2 * Math.random() - 1) * Math.exp((-9 * i) / length);
  const noise = new AudioBufferSourceNode(context, { buffer });
  noise
    .connect(new BiquadFilterNode(context, { type: "bandpass", frequency, Q: 4 }))
    .connect(new GainNode(context, { gain: 3 * gain }))
    .connect(context.destination);
  noise.start(context.currentTime + wait);
}
