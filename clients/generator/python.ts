/** Writes what the Python client takes from the OpenAPI document: types, operations, error classes and event types. */
import {
  type Argument,
  errorCodesOf,
  eventsOf,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  type Schema,
} from './operations.ts';
import { snakeCase } from './python-names.ts';
import { createPythonSchemas, literal, type PythonSchemas, union } from './python-schemas.ts';
import { errorName, pascalCase } from './typescript.ts';

const note = 'Generated from docs/openapi.json by `npm run openapi:accept`; do not edit.';
/** Types of Python and of the client: all others are in the module of the schemas. */
const builtIn =
  /\b(?!(?:str|int|float|bool|None|Any|Dict|List|Optional|Union|Literal|FileToSend)\b)[A-Z]\w*\b/g;

export interface PythonFiles {
  schemas: string;
  operations: string;
}

/** Together, because operations have bodies and answers that are among the schemas. */
export function pythonOperations(document: OpenApiDocument): PythonFiles {
  const schemas = createPythonSchemas();
  for (const [name, schema] of Object.entries(document.components.schemas)) schemas.define(name, schema);
  const operations = operationsOf(document);
  // The stream of events is made of it by hand.
  const methods = operations.filter(({ id }) => id !== 'streamEvents').map((one) => methodOf(one, schemas));
  return {
    schemas: `"""The objects of the API as typed dictionaries. ${note}"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


${schemas.text()}
`,
    operations: `"""Every operation of the API, and how to call it. ${note}"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from . import schemas
from .operation import UNSET, CallOptions, Caller, Download, Operation
from .pages import Pages
from .upload import FileToSend

OPERATIONS: Dict[str, Operation] = {
${operations.map((operation) => `    "${snakeCase(operation.id)}": ${rowOf(operation)},`).join('\n')}
}


class Operations(Caller):
    """A method for each operation."""

${methods.join('\n\n')}
`,
  };
}

export function pythonErrors(document: OpenApiDocument): string {
  const codes = errorCodesOf(document);
  return `"""A class for each error code of the API. ${note}"""

from __future__ import annotations

from typing import Dict, Type

from .errors import HoldfastError

${codes.map((code) => `\nclass ${errorName(code)}(HoldfastError):\n    pass\n`).join('\n')}

# By error code.
ERROR_CLASSES: Dict[str, Type[HoldfastError]] = {
${codes.map((code) => `    "${code}": ${errorName(code)},`).join('\n')}
}
`;
}

export function pythonEvents(document: OpenApiDocument): string {
  const events = eventsOf(document);
  return `"""The events of the feed, the stream and webhooks. ${note}"""

from __future__ import annotations

from typing import Literal, Union

from . import schemas

EventType = Literal[
${events.map(({ type }) => `    "${type}",`).join('\n')}
]

# The service adds types over time: skip those you do not know.
Event = Union[
${events.map(({ name, about }) => `    schemas.${name},  # ${about}`).join('\n')}
]
`;
}

function rowOf({ method, path, arguments: all, ...operation }: Operation): string {
  const query = all.filter((argument) => argument.in === 'query').map(({ name }) => literal(name));
  const flags = {
    takes_key: operation.takesKey,
    takes_body: all.some((argument) => argument.in === 'body'),
    is_list: operation.isList,
    is_repeatable: operation.isRepeatable,
    is_raw: isRaw(operation),
  };
  const set = Object.entries(flags).flatMap(([name, value]) => (value ? [`${name}=True`] : []));
  const names = query.length === 0 ? '()' : `(${query.join(', ')},)`;
  return `Operation(${[literal(method), literal(path), names, ...set].join(', ')})`;
}

/** Path first, by position too; what is required comes before what is not. */
function methodOf(operation: Operation, schemas: PythonSchemas): string {
  const { id, summary, arguments: all } = operation;
  const typed = all.map((argument) => ({
    ...argument,
    python: snakeCase(argument.name),
    type: qualified(typeOf(id, argument, schemas)),
  }));
  const inPath = typed.filter((argument) => argument.in === 'path');
  const others = typed.filter((argument) => argument.in !== 'path');
  const required = others.filter(({ isRequired }) => isRequired);
  const optional = others.filter(({ isRequired }) => !isRequired);
  const parameters = [
    'self',
    ...inPath.map(({ python, type }) => `${python}: ${type}`),
    '*',
    ...required.map(({ python, type }) => `${python}: ${type}`),
    ...optional.map(({ python, type }) => `${python}: ${type} = UNSET`),
    'options: Optional[CallOptions] = None',
  ];
  const given = typed.map(({ name, python }) => `            ${literal(name)}: ${python},`);
  const call = `self.${operation.isList ? '_pages' : '_data'}("${snakeCase(id)}", arguments, options)`;
  const result = resultOf(operation, schemas);
  const lines = result === 'None' ? [call] : [`result: ${result} = ${call}`, 'return result'];
  return `    def ${snakeCase(id)}(
${parameters.map((parameter) => `        ${parameter},`).join('\n')}
    ) -> ${result}:
        """${summary.replace(/\.?$/, '.')}"""
        arguments: Dict[str, Any] = {${given.length === 0 ? '' : `\n${given.join('\n')}\n        `}}
${lines.map((line) => `        ${line}`).join('\n')}`;
}

function typeOf(id: string, { name, schema }: Argument, schemas: PythonSchemas): string {
  if ((schema as { format?: string }).format === 'binary') return 'FileToSend';
  return schemas.typeOf(schema, `${pascalCase(id)}${pascalCase(name)}`);
}

function resultOf(operation: Operation, schemas: PythonSchemas): string {
  const { id, answer, mayBeEmpty, isList, isText } = operation;
  if (isRaw(operation)) return 'Download';
  if (answer === null) return isText ? 'str' : 'None';
  const type = schemas.typeOf(answer, `${pascalCase(id)}Result`);
  if (isList) return `Pages[${qualified(itemOf(answer, type))}]`;
  return qualified(union([type, ...(mayBeEmpty ? ['None'] : [])]));
}

function itemOf({ type }: Schema, python: string): string {
  return type === 'array' ? python.replace(/^List\[(.*)\]$/, '$1') : 'Any';
}

function isRaw({ answer, mayBeEmpty, isText }: Pick<Operation, 'answer' | 'mayBeEmpty' | 'isText'>): boolean {
  return answer === null && !mayBeEmpty && !isText;
}

/** Values of literals are left alone. */
function qualified(type: string): string {
  return type
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((part, place) => (place % 2 === 1 ? part : part.replace(builtIn, (name) => `schemas.${name}`)))
    .join('');
}
