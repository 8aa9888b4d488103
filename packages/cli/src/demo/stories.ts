/** What customers of the sample support desk ask for, and how the agent helps them. */

export interface StoryTurn {
  readonly question: string;
  /** What the knowledge base says about it; absent: the agent does not search. */
  readonly passage?: string;
  readonly tool?: {
    readonly name: ToolName;
    readonly arguments: Readonly<Record<string, string>>;
    readonly result: string;
  };
  readonly answer: string;
}

export type ToolName = "look_up_order" | "check_stock" | "create_return_label";

export interface Story {
  readonly topic: string;
  readonly turns: readonly [StoryTurn, ...StoryTurn[]];
}

export const instructions =
  "You are the concierge of Harbour Shoes, a shop for shoes and bags. Answer in at most three sentences. Use the knowledge base for rules and the tools for orders; never guess an order's state.";

/** Said when a tool did not respond. */
export const apology =
  "I am sorry, I cannot reach that system at the moment. I have made a note, and a colleague will write to you today.";

const lateParcel: Story = {
  topic: "delivery",
  turns: [
    {
      question: "Where is my order? It should have been here on Monday.",
      tool: {
        name: "look_up_order",
        arguments: { order: "HS-20417" },
        result: '{"order":"HS-20417","state":"in transit","carrier":"DHL","expected":"Thursday"}',
      },
      answer: "Your order HS-20417 is on its way with DHL and should arrive on Thursday. I am sorry that it is late.",
    },
    {
      question: "I am away on Thursday. Can you change the day?",
      passage: "Delivery days can be changed until 18:00 on the day before, on the carrier's page.",
      answer:
        "Yes: until Wednesday at 18:00 you can choose another day on DHL's page. The link is in your shipping mail.",
    },
    { question: "Thank you!", answer: "You are welcome. Enjoy your new shoes!" },
  ],
};

const returnedShoes: Story = {
  topic: "returns",
  turns: [
    {
      question: "I want to return a pair of shoes. They are too small.",
      passage: "Unworn shoes can be returned within 30 days. Exchanges for another size are free.",
      answer:
        "You can return unworn shoes within 30 days, or exchange them for another size free of charge. Which do you prefer?",
    },
    {
      question: "An exchange, please, one size larger.",
      tool: {
        name: "check_stock",
        arguments: { article: "Pier 7", size: "43" },
        result: '{"article":"Pier 7","size":"43","in_stock":6}',
      },
      answer: "Pier 7 in size 43 is in stock, and I have set one pair aside for you. Shall I send you a return label?",
    },
    {
      question: "Yes, by mail.",
      tool: {
        name: "create_return_label",
        arguments: { order: "HS-20388" },
        result: '{"label":"RL-88120","sent_to":"a…@example.com"}',
      },
      answer:
        "The label RL-88120 is on its way to your mail address. The new pair leaves when the carrier has scanned the parcel.",
    },
  ],
};

const wrongInvoice: Story = {
  topic: "invoices",
  turns: [
    {
      question: "The invoice has the wrong address. We moved last month.",
      passage: "Invoices can be corrected within 60 days. The customer sends the new address in writing.",
      answer:
        "That can be corrected. Please write the complete new address here, and you will get a new invoice within one day.",
    },
    {
      question: "Example Ltd, 12 Quay Street, Galway.",
      answer: "Thank you. The corrected invoice goes to 12 Quay Street, Galway, and to your mail address by tomorrow.",
    },
  ],
};

const unknownStock: Story = {
  topic: "stock",
  turns: [
    {
      question: "Do you have the bag Mole in green? The shop in Cork said it is sold out.",
      tool: {
        name: "check_stock",
        arguments: { article: "Mole", colour: "green" },
        result: '{"article":"Mole","colour":"green","in_stock":0,"expected":"2 weeks"}',
      },
      answer:
        "Mole in green is sold out online as well, but new ones are expected in two weeks. I can send you a message when they are here.",
    },
    { question: "Yes, please do.", answer: "Done: you will get a message as soon as Mole in green is in stock." },
  ],
};

const brokenVoucher: Story = {
  topic: "vouchers",
  turns: [
    {
      question: "My voucher AUTUMN15 does not work.",
      passage: "AUTUMN15 applies to orders of 50 euros or more and not to reduced articles.",
      answer:
        "AUTUMN15 applies to orders of 50 euros or more, and not to reduced articles. Is one of the articles in your basket reduced?",
    },
    {
      question: "The boots are. That is not what your advertisement says!",
      passage: "On complaints about advertisements, the desk may grant 10 euros once for each customer.",
      answer:
        "I understand, and I am sorry for the confusion. I have credited 10 euros to your account, which you can use for the boots.",
    },
  ],
};

const lostPassword: Story = {
  topic: "accounts",
  turns: [
    {
      question: "How do I reset my password? The mail does not arrive.",
      passage: "Mails for resetting passwords come from accounts@ and are valid for one hour.",
      answer:
        "Please look for a mail from accounts@ in your spam folder; it is valid for one hour. If there is none, tell me the address that you used.",
    },
  ],
};

export const stories = [
  lateParcel,
  returnedShoes,
  wrongInvoice,
  unknownStock,
  brokenVoucher,
  lostPassword,
] as const satisfies readonly Story[];
