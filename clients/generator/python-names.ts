/** How names of the OpenAPI document are written in Python. */

const keywords = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if
  import in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

/** `vaultAddress` is `vault_address`; a keyword gets a trailing underscore. */
export function snakeCase(name: string): string {
  const snake = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return keywords.has(snake) ? `${snake}_` : snake;
}

/** Whether a class can have a member of that name. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name);
}
