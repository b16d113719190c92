import { useId, type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes } from "react";

import { Icon } from "../parts";

interface Frame {
  label: string;
  optional?: boolean;
  help?: ReactNode;
  problem?: string | undefined;
}

interface Ids {
  id: string;
  "aria-invalid": boolean | undefined;
  "aria-describedby": string | undefined;
}

/** A label over a control, help and mistakes under it. */
export function Field({
  label,
  optional,
  help,
  problem,
  children,
}: Frame & { children: (ids: Ids) => ReactNode }) {
  const id = useId();
  const described = [help ? `${id}-help` : "", problem ? `${id}-wrong` : ""].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} {optional && <span className="dim">optional</span>}
      </label>
      {children({
        id,
        "aria-invalid": problem ? true : undefined,
        "aria-describedby": described || undefined,
      })}
      {help && (
        <span className="help" id={`${id}-help`}>
          {help}
        </span>
      )}
      {problem && (
        <span className="wrong" id={`${id}-wrong`}>
          <Icon name="fail" />
          {problem}
        </span>
      )}
    </div>
  );
}

type TextProps = Frame & { value: string; onText: (value: string) => void; mono?: boolean } & Omit<
    InputHTMLAttributes<HTMLInputElement>,
    "value" | "onChange"
  >;

export function TextField({ label, optional, help, problem, value, onText, mono, ...rest }: TextProps) {
  return (
    <Field label={label} optional={optional ?? false} help={help} problem={problem}>
      {(ids) => (
        <input
          className={mono ? "input mono" : "input"}
          value={value}
          onChange={(event) => onText(event.target.value)}
          autoComplete="off"
          spellCheck={false}
          {...ids}
          {...rest}
        />
      )}
    </Field>
  );
}

type AreaProps = Frame & { value: string; onText: (value: string) => void; mono?: boolean } & Omit<
    TextareaHTMLAttributes<HTMLTextAreaElement>,
    "value" | "onChange"
  >;

export function AreaField({ label, optional, help, problem, value, onText, mono, ...rest }: AreaProps) {
  return (
    <Field label={label} optional={optional ?? false} help={help} problem={problem}>
      {(ids) => (
        <textarea
          className={mono ? "input mono" : "input"}
          value={value}
          onChange={(event) => onText(event.target.value)}
          spellCheck={false}
          {...ids}
          {...rest}
        />
      )}
    </Field>
  );
}

interface SelectProps<T extends string> extends Frame {
  value: T;
  onPick: (value: T) => void;
  options: readonly (readonly [T, string])[];
}

export function SelectField<T extends string>({
  label,
  optional,
  help,
  problem,
  value,
  onPick,
  options,
}: SelectProps<T>) {
  return (
    <Field label={label} optional={optional ?? false} help={help} problem={problem}>
      {(ids) => (
        <span className="select">
          <select
            className="input"
            value={value}
            onChange={(event) => onPick(event.target.value as T)}
            {...ids}
          >
            {options.map(([key, words]) => (
              <option key={key} value={key}>
                {words}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </span>
      )}
    </Field>
  );
}

interface CheckProps {
  checked: boolean;
  onCheck: (checked: boolean) => void;
  children: ReactNode;
  help?: string;
  disabled?: boolean;
}

export function Check({ checked, onCheck, children, help, disabled = false }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        className="box"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onCheck(event.target.checked)}
      />
      <span>
        {children}
        {help && <small className="help">{help}</small>}
      </span>
    </label>
  );
}
