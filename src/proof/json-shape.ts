/** Checks of parsed JSON that collect every fault with its path. */

export interface Fault {
  /** In JavaScript notation: `seal.depth`, `anchors[0].chainId`; empty for the document itself. */
  path: string;
  /** Continues the path in a sentence: "is not 0x and 64 lower-case hex digits". */
  message: string;
}

export type Check = (value: unknown, path: string) => Fault[];

/** An object with exactly these members; an open one may have others. */
export function objectOf(members: Record<string, Check>, { open = false } = {}): Check {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return [{ path, message: 'is not an object' }];
    }
    const named = Object.entries(members).flatMap(([name, check]) => {
      const place = path === '' ? name : `${path}.${name}`;
      if (!Object.hasOwn(value, name)) return [{ path: place, message: 'is missing' }];
      return check((value as Record<string, unknown>)[name], place);
    });
    if (open) return named;
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(members, name));
    return [
      ...named,
      ...unknown.map((name) => ({
        path: path === '' ? name : `${path}.${name}`,
        message: 'is not a field of this format',
      })),
    ];
  };
}

/** A list of min to max items that all pass one check; or, with a list of checks, one item for each check. */
export function eachOf(checks: Check | readonly Check[], { min = 0, max = 0 } = {}): Check {
  const least = typeof checks === 'function' ? min : checks.length;
  const most = typeof checks === 'function' ? max : checks.length;
  return (value, path) => {
    if (!Array.isArray(value)) return [{ path, message: 'is not a list' }];
    if (value.length < least || value.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      return [{ path, message: `has ${value.length} items, not ${wanted}` }];
    }
    return value.flatMap((item, place) => {
      const check = typeof checks === 'function' ? checks : checks[place];
      return check === undefined ? [] : check(item, `${path}[${place}]`);
    });
  };
}

/** Exactly this value, a string or a list of strings. */
export function exactly(wanted: string | readonly string[]): Check {
  const text = JSON.stringify(wanted);
  return (value, path) => (JSON.stringify(value) === text ? [] : [{ path, message: `is not ${text}` }]);
}

export function oneOf(wanted: readonly string[]): Check {
  return (value, path) =>
    wanted.includes(value as string) ? [] : [{ path, message: `is not one of ${wanted.join(', ')}` }];
}

export function matching(pattern: RegExp, wanted: string): Check {
  return (value, path) =>
    typeof value === 'string' && pattern.test(value) ? [] : [{ path, message: `is not ${wanted}` }];
}

export function hexOf(bytes: number): Check {
  return matching(new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`, 'u'), `0x and ${2 * bytes} lower-case hex digits`);
}

export function integerUpTo(max: number): Check {
  return (value, path) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
      ? []
      : [{ path, message: `is not an integer from 0 to ${max}` }];
}

export function nullOr(check: Check): Check {
  return (value, path) => (value === null ? [] : check(value, path));
}
