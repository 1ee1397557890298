/** A field to type in by which a list is filtered: shows each letter at once, and the URL follows when typing pauses. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';

export interface TextFilterProps extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> {
  /** As it is in the URL. */
  value: string | undefined;
  set(value: string): void;
}

const pauseMs = 300;

/**
 * What is typed never waits for the router. What the URL says while typing goes on is what was typed before, and changes
 * nothing; a link or the back button changes the field.
 */
export function TextFilter({ value = '', set, ...rest }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  /** What was given to the URL and is not in it yet, the latest last. */
  const underWay = useRef<string[]>([]);
  const current = useRef({ value, set });
  current.current = { value, set };

  useEffect(() => {
    const place = underWay.current.lastIndexOf(value);
    underWay.current = place < 0 ? [] : underWay.current.slice(place + 1);
    // Changed by a link or the back button, and not from here.
    if (place < 0) setTyped(value);
  }, [value]);

  useEffect(() => {
    const timer = setTimeout(() => {
      const { value, set } = current.current;
      if (typed === (underWay.current.at(-1) ?? value)) return;
      underWay.current.push(typed);
      set(typed);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);

  return <TextInput {...rest} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} />;
}
