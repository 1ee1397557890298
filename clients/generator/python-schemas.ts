/** Turns schemas into Python's types: each object with members becomes a TypedDict with a name. */
import type { Schema } from './operations.ts';
import { isIdentifier } from './python-names.ts';
import { pascalCase } from './typescript.ts';

export interface PythonSchemas {
  /** The type of a schema as an expression; `name` is for the object in it, if it has one. */
  typeOf(schema: Schema, name: string): string;
  /** Writes the class of a schema that the document names. */
  define(name: string, schema: Schema): void;
  /** All classes so far. */
  text(): string;
}

const simple: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

export function createPythonSchemas(): PythonSchemas {
  const classes = new Map<string, string>();

  function typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
    if (schema.anyOf) return union(schema.anyOf.map((one, place) => typeOf(one, `${name}${place + 1}`)));
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    const types = [schema.type ?? []].flat();
    if (schema.enum) {
      const values = schema.enum.filter((value) => value !== null);
      const hasNull = values.length < schema.enum.length || types.includes('null');
      return union([`Literal[${values.map(literal).join(', ')}]`, ...(hasNull ? ['None'] : [])]);
    }
    if (types.length === 0) return 'Any';
    return union(types.map((type) => ofType(type, schema, name)));
  }

  function ofType(type: string, schema: Schema, name: string): string {
    if (type === 'array') return `List[${typeOf(schema.items ?? {}, name)}]`;
    if (type !== 'object') return simple[type] ?? 'Any';
    if (schema.properties && Object.keys(schema.properties).length > 0 && !isOpen(schema)) {
      define(name, { ...schema, type: 'object' });
      return name;
    }
    const { additionalProperties: values } = schema;
    return `Dict[str, ${typeof values === 'object' ? typeOf(values, `${name}Value`) : 'Any'}]`;
  }

  function define(name: string, schema: Schema): void {
    const { type, properties = {}, required = [] } = schema;
    if (type !== 'object' || Object.keys(properties).length === 0 || isOpen(schema)) {
      classes.set(name, `${name} = ${typeOf(schema, `${name}Member`)}`);
      return;
    }
    // Takes its place now: the classes of its members come after it.
    classes.set(name, '');
    const members = Object.entries(properties).map(([member, one]) => ({
      member,
      type: typeOf(one, `${name}${pascalCase(member)}`),
      isRequired: required.includes(member),
    }));
    const [needed, optional] = [true, false].map((is) =>
      members.filter(({ isRequired }) => isRequired === is),
    );
    const about = schema.description?.replace(/\.?$/, '.') ?? '';
    const parts = [];
    const base = needed?.length && optional?.length ? `_${name}Required` : null;
    if (base) parts.push(dictClass(base, needed ?? [], { base: 'TypedDict' }));
    if (base) parts.push(dictClass(name, optional ?? [], { base: `${base}, total=False`, about }));
    else if (needed?.length) parts.push(dictClass(name, needed, { base: 'TypedDict', about }));
    else parts.push(dictClass(name, optional ?? [], { base: 'TypedDict, total=False', about }));
    classes.set(name, parts.join('\n\n\n'));
  }

  return {
    typeOf,
    define,
    text: () => {
      // Aliases are evaluated when they are reached, and name classes.
      const texts = [...classes.values()];
      const isAlias = (text: string) => /^\w+ = (?!TypedDict)/.test(text);
      return [...texts.filter((text) => !isAlias(text)), ...texts.filter(isAlias)].join('\n\n\n');
    },
  };
}

export function union(types: string[]): string {
  const distinct = [...new Set(types)];
  const others = distinct.filter((type) => type !== 'None');
  const whole = others.length === 1 ? (others[0] ?? '') : `Union[${others.join(', ')}]`;
  if (others.length === 0) return 'None';
  return others.length < distinct.length ? `Optional[${whole}]` : whole;
}

/** Says what members there are at least: a dictionary in Python. */
function isOpen({ additionalProperties }: Schema): boolean {
  return additionalProperties === true;
}

function dictClass(
  name: string,
  members: { member: string; type: string }[],
  { base, about = '' }: { base: string; about?: string },
): string {
  if (members.every(({ member }) => isIdentifier(member))) {
    const lines = members.map(({ member, type }) => `    ${member}: ${type}`);
    return [`class ${name}(${base}):`, ...(about ? [`    """${about}"""\n`] : []), ...lines].join('\n');
  }
  // Keywords and names with other characters can be members only in this form.
  const lines = members.map(({ member, type }) => `        ${literal(member)}: ${literal(type)},`);
  const total = base.endsWith('total=False') ? ['    total=False,'] : [];
  return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...lines, '    },', ...total, ')'].join('\n');
}

export function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}
