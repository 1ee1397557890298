/** Finds the first fault in a JSON value, and its path, in one pass: the path is built only if there is a fault. */

export interface JsonRules {
  /** What is wrong with the value, as the end of a sentence about it; null when nothing is. */
  value(value: unknown, depth: number): string | null;
  /** The same for a member name; if the name cannot be shown, the sentence is about its object. */
  name(name: string): string | null;
}

/** Longer paths are cut, as they are for people. */
const longestPath = 200;

/** A sentence about the first fault, such as "data.readings[3] is not a finite number."; `root` is the name of the value. */
export function findJsonFault(value: unknown, root: string, rules: JsonRules): string | null {
  const fault = find(value, 0, rules);
  return fault && `${jsonPath(root, fault.steps.reverse()) || 'The body'} ${fault.message}.`;
}

export type JsonStep = string | number;

/** e.g. data.readings[3] */
export function jsonPath(root: string, steps: JsonStep[]): string {
  let path = root;
  for (const step of steps) {
    if (path.length > longestPath) break;
    path += typeof step === 'number' ? `[${step}]` : `${path === '' ? '' : '.'}${step.slice(0, longestPath)}`;
  }
  return path.slice(0, longestPath);
}

interface Fault {
  message: string;
  /** From the fault up to the root. */
  steps: JsonStep[];
}

/** Recurses as deep as the rules allow. */
function find(value: unknown, depth: number, rules: JsonRules): Fault | null {
  const message = rules.value(value, depth);
  if (message !== null) return { message, steps: [] };
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    // Not forEach, which skips holes.
    for (let place = 0; place < value.length; place += 1) {
      const fault = find(value[place], depth + 1, rules);
      if (fault) return below(place, fault);
    }
    return null;
  }
  for (const name of Object.keys(value)) {
    const wrongName = rules.name(name);
    if (wrongName !== null) return { message: wrongName, steps: isShowable(name) ? [name] : [] };
    const fault = find((value as Record<string, unknown>)[name], depth + 1, rules);
    if (fault) return below(name, fault);
  }
  return null;
}

function isShowable(name: string): boolean {
  return name.isWellFormed() && !name.includes('\0');
}

function below(step: JsonStep, fault: Fault): Fault {
  fault.steps.push(step);
  return fault;
}
