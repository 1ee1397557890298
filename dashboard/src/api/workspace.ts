/** Which workspace this browser works in; remembered, and part of no link. */
const key = 'holdfast.workspace';

export function chosenWorkspace(): string | null {
  return localStorage.getItem(key);
}

export function chooseWorkspace(id: string | null): void {
  if (id === null) localStorage.removeItem(key);
  else localStorage.setItem(key, id);
}
