/** The workspace this browser works in; remembered, and not part of any link. */
const key = 'holdfast.workspace';

/** Per page: a switch in another tab must not redirect what is typed here to another workspace. */
let chosen = localStorage.getItem(key);

export function chosenWorkspace(): string | null {
  return chosen;
}

/** For the page that is loaded next: its user may still stay on this one, for the sake of an import or an upload. */
export function chooseNextWorkspace(id: string): void {
  localStorage.setItem(key, id);
}

export function chooseWorkspace(id: string | null): void {
  chosen = id;
  if (id === null) localStorage.removeItem(key);
  else localStorage.setItem(key, id);
}
