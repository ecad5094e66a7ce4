// A place: a city with completion, coordinates, or a click on the map.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ask } from "../../lib/api";
import { Button, Field } from "../../ui";
import { picking } from "./store";
import type { Place } from "./types";

export interface PlaceFieldProps {
  label: string;
  which: "from" | "to";
  value: string;
  error?: string | undefined;
  onValue: (text: string) => void;
}

const PATIENCE_MS = 90;

export function PlaceField({ label, which, value, error, onValue }: PlaceFieldProps) {
  const [text, setText] = useState(value);
  const [places, setPlaces] = useState<readonly Place[]>([]);
  const [at, setAt] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const asking = useRef<AbortController | undefined>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => asking.current?.abort(), []);

  const complete = (typed: string) => {
    setText(typed);
    setAt(-1);
    asking.current?.abort();
    const controller = new AbortController();
    asking.current = controller;
    // Coordinates have no completion.
    if (typed.trim().length < 2 || !/\p{L}/u.test(typed)) {
      setPlaces([]);
      setOpen(false);
      return;
    }
    setTimeout(() => {
      if (controller.signal.aborted) return;
      ask<{ places: Place[] }>("/api/sky/places", { text: typed }, controller.signal).then(
        (answer) => {
          setPlaces(answer.places);
          setOpen(true);
        },
        () => undefined,
      );
    }, PATIENCE_MS);
  };
  const choose = (chosen: string) => {
    asking.current?.abort();
    setText(chosen);
    setOpen(false);
    setAt(-1);
    if (chosen.trim() !== "" && chosen !== value) onValue(chosen.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      choose(isOpen ? (places[at]?.text ?? text) : text);
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      setOpen(false);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && places.length > 0) {
      event.preventDefault();
      setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((at + step + places.length + (at < 0 && step < 0 ? 1 : 0)) % places.length);
    }
  };
  const isPicking = picking.value === which;
  return (
    <Field
      label={label}
      error={error}
      help="A city of Natural Earth's 7300 places, such as Berlin or Portland, Oregon; or latitude and longitude in degrees, such as 37.9,-122.3."
    >
      {(aria) => (
        <span class="sky-place">
          <input
            {...aria}
            ref={input}
            class="input"
            role="combobox"
            aria-expanded={isOpen && places.length > 0}
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={at >= 0 && isOpen ? `${list}-${at}` : undefined}
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => complete(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            onBlur={() => choose(text)}
          />
          <ul
            id={list}
            class="sky-places"
            role="listbox"
            aria-label={`Places for ${label}`}
            hidden={!isOpen || places.length === 0}
          >
            {places.map((place, i) => (
              <li
                key={place.text}
                id={`${list}-${i}`}
                role="option"
                aria-selected={i === at}
                // Before the field loses the focus.
                onMouseDown={(event) => {
                  event.preventDefault();
                  choose(place.text);
                }}
              >
                <span>{place.text}</span>
                <span class="muted small">
                  {place.country !== undefined && !place.text.endsWith(place.country) ? place.country : ""}
                </span>
              </li>
            ))}
          </ul>
          <Button
            kind="quiet"
            icon="sky"
            label={`Choose ${label === "From" ? "where data comes from" : "where data goes to"} on the map`}
            pressed={isPicking}
            onClick={() => (picking.value = isPicking ? undefined : which)}
          />
        </span>
      )}
    </Field>
  );
}
