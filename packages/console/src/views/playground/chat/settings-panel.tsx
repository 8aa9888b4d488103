/** The system prompt and the parameters of the next requests. */
import { useId } from "preact/hooks";
import { emptyParameters } from "./chat-parameters.ts";
import type { ChatStore } from "./chat-store.ts";
import { AreaField, SelectField, TextField } from "./settings-fields.tsx";
import { readTools, toolNames } from "./structured-parameters.ts";

const efforts = ["none", "minimal", "low", "medium", "high"].map((value) => ({ value, title: value }));

export function SettingsPanel({ chat }: { readonly chat: ChatStore }) {
  const { parameters } = chat.settings.value;
  const changed = Object.values(parameters).some((value) => value !== "");
  return (
    <div class="chat-settings-fields">
      <SystemPrompt chat={chat} />
      <div class="chat-pair">
        <TextField chat={chat} name="temperature" label="Temperature" hint="0 to 2" placeholder="Default" numeric />
        <TextField chat={chat} name="top_p" label="Top P" hint="0 to 1" placeholder="Default" numeric />
        <TextField
          chat={chat}
          name="max_completion_tokens"
          label="Max tokens"
          hint="With reasoning"
          placeholder="Default"
          numeric
        />
        <TextField chat={chat} name="seed" label="Seed" hint="A whole number" placeholder="Random" numeric />
        <TextField
          chat={chat}
          name="frequency_penalty"
          label="Frequency penalty"
          hint="-2 to 2"
          placeholder="Default"
          numeric
        />
        <TextField
          chat={chat}
          name="presence_penalty"
          label="Presence penalty"
          hint="-2 to 2"
          placeholder="Default"
          numeric
        />
        <SelectField
          chat={chat}
          name="reasoning_effort"
          label="Reasoning effort"
          hint="Of reasoning models"
          choices={[{ value: "", title: "Default" }, ...efforts]}
        />
        <TextField
          chat={chat}
          name="top_logprobs"
          label="Log probabilities"
          hint="Alternatives, 0 to 20"
          placeholder="Off"
          numeric
        />
      </div>
      <AreaField
        chat={chat}
        name="stop"
        label="Stop sequences"
        hint="Up to four, one per line; \n is a line break"
        rows={2}
        code
      />
      <ResponseFormat chat={chat} />
      <Tools chat={chat} />
      <TextField chat={chat} name="user" label="User" hint="A stable ID of the end user" />
      <AreaField
        chat={chat}
        name="extra"
        label="Other parameters"
        hint="A JSON object; its members are added to the request"
        placeholder='{"top_k": 40}'
        rows={2}
        code
      />
      <div>
        <button type="button" class="button" disabled={!changed} onClick={() => chat.changeParameters(emptyParameters)}>
          Reset the parameters
        </button>
      </div>
    </div>
  );
}

function SystemPrompt({ chat }: { readonly chat: ChatStore }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>System prompt</label>
      <textarea
        id={id}
        class="textarea"
        rows={4}
        dir="auto"
        placeholder="How the model should behave"
        value={chat.settings.value.system}
        onInput={(event) => chat.change({ system: event.currentTarget.value })}
      />
    </div>
  );
}

function ResponseFormat({ chat }: { readonly chat: ChatStore }) {
  return (
    <>
      <SelectField
        chat={chat}
        name="response_format"
        label="Response format"
        choices={[
          { value: "", title: "Text" },
          { value: "json_object", title: "Any JSON object" },
          { value: "json_schema", title: "JSON that follows a schema" },
        ]}
      />
      {chat.settings.value.parameters.response_format === "json_schema" && (
        <>
          <TextField chat={chat} name="schema_name" label="Name of the schema" placeholder="answer" />
          <AreaField
            chat={chat}
            name="schema"
            label="JSON schema"
            placeholder='{"type": "object", "properties": {…}}'
            rows={8}
            code
          />
        </>
      )}
    </>
  );
}

function Tools({ chat }: { readonly chat: ChatStore }) {
  const { tools } = chat.settings.value.parameters;
  const { value } = readTools(tools);
  const names = Array.isArray(value) ? toolNames(value) : [];
  return (
    <>
      <AreaField
        chat={chat}
        name="tools"
        label="Tools"
        hint="A JSON list of functions"
        placeholder='[{"type": "function", "function": {"name": …}}]'
        rows={tools === "" ? 2 : 8}
        code
      />
      {tools.trim() !== "" && (
        <SelectField
          chat={chat}
          name="tool_choice"
          label="Tool choice"
          choices={[
            { value: "", title: "Default" },
            { value: "auto", title: "The model decides" },
            { value: "required", title: "At least one" },
            { value: "none", title: "None" },
            ...names.map((name) => ({ value: name, title: name })),
          ]}
        />
      )}
    </>
  );
}
