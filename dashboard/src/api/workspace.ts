/** The workspace this browser works in; remembered, and not part of any link. */
const key = 'holdfast.workspace';

/** Per page: a switch in another tab must not redirect what is typed here to another workspace. */
let chosen = localStorage.getItem(key);

export function chosenWorkspace(): string | null {
  return chosen;
}

export function chooseWorkspace(id: string | null): void {
  chosen = id;
  if (id === null) localStorage.removeItem(key);
  else localStorage.setItem(key, id);
}
