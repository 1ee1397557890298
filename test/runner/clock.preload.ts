/** Loaded before anything else where a run has a clock of its own: moves Date by HOLDFAST_TEST_CLOCK milliseconds. */

const RealDate = Date;
const offsetMs = Number(process.env.HOLDFAST_TEST_CLOCK);
const now = () => RealDate.now() + offsetMs;

/** Not a subclass: times that come from Node.js itself, such as those of files, must remain instances of Date. */
globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget === Date ? target : newTarget),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
